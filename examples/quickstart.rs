//! The ten lines of the README, for two users, in a store that is removed again.

use mnemic::memory::NewMemory;
use mnemic::{BuiltinEmbedder, Correction, Query, Store};

fn main() -> mnemic::Result<()> {
    let dir = tempfile::tempdir().map_err(|error| mnemic::Error::new(mnemic::ErrorKind::Io, error.to_string()))?;
    let store = Store::builder(dir.path().join("memory")).embedder(BuiltinEmbedder::new()).open()?;
    let ada = store.user("ada")?;
    let seat = ada.remember(NewMemory::preference("Prefers aisle seats on trains").slot("user", "seat"))?;
    ada.correct(seat, Correction::new("Prefers window seats on trains"))?;
    let hits = ada.recall(Query::text("which seat should I book?").limit(5))?;
    println!("{:.3} {}", hits[0].score(), hits[0].memory().text());
    println!("{}", hits[0].explain());
    ada.forget(hits[0].id())?;
    let li = store.user("李雷")?;
    li.remember(NewMemory::fact("我对花生过敏"))?;
    println!("{}", li.recall(Query::text("花生能吃吗？"))?[0].memory().text());
    store.forget_user("ada")?;
    store.close()
}
