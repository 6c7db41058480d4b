//! `mnemic demo`: the main job on built-in memories, without a model, a file or a network.

mod cast;
mod page;
mod scene;
mod steps;

use mnemic::{BuiltinEmbedder, Store};

use crate::args::Global;
use crate::demo::page::Page;
use crate::demo::scene::Scene;
use crate::failure::{Outcome, Result};
use crate::scratch::Scratch;

pub(crate) fn run(global: &Global) -> Result<Outcome> {
    global.refuse("demo", &["--store", "--user", "--level", "--passphrase-env"])?;
    let scratch = Scratch::new("demo")?;
    let path = scratch.path().join("memory");
    let store = Store::builder(&path).embedder(BuiltinEmbedder::new()).open()?;
    let mut page = Page::new(global.json);
    page.head("mnemic demo: two users, no model, no network, one temporary store")?;
    let scene = Scene::set(&store)?;
    page.step(&steps::remember(&scene)?)?;
    page.step(&steps::recall(&scene)?)?;
    page.step(&steps::decay(&scene)?)?;
    page.step(&steps::correct(&scene)?)?;
    page.step(&steps::explain(&scene)?)?;
    page.step(&steps::why_not(&scene)?)?;
    page.step(&steps::isolate(&scene)?)?;
    page.step(&steps::forget(&scene)?)?;
    store.close()?;
    scratch.remove()?;
    page.finish("The store is removed. To keep your own: mnemic remember --user me \"...\"")?;
    Ok(Outcome::Done)
}
