use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::RwLock;
use redb::{Database, ReadableDatabase, ReadableTable, StorageBackend, TableDefinition};

use super::health::{Health, Watched};
use super::{LAST_SEQ, Sync};
use crate::codec::Table;
use crate::codec::standing::{Standing, UsersSum};
use crate::error::{Error, Result};
use crate::storage::backend::Backend;
use crate::storage::fault::{contained, damaged};
use crate::storage::read_view::definition;
use crate::storage::{ReadView, WriteSet};
use crate::world::File;

/// redb's own cache; the hot data is ours.
pub(crate) const CACHE_BYTES: usize = 8 << 20;

/// Whether redb's own pages are verified at open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pages {
    /// Our own tags tell of damage; an open takes milliseconds.
    Trusted,
    /// Every checksum of every page, which reads the whole file.
    Checked,
}

/// A file of redb's, for as long as somebody reads it.
pub(in crate::storage) struct Open {
    number: u32,
    pub(super) file: Arc<dyn File>,
    database: RwLock<Option<Database>>,
    /// A call into redb panicked: it may panic again while it closes, and a panic in a destructor ends the process.
    poisoned: AtomicBool,
    health: Health,
    /// Closing leaves the file as it is; else redb makes a last commit, which may end the process in damaged pages.
    leaves: AtomicBool,
}

impl Open {
    pub(super) fn new(number: u32, file: Arc<dyn File>) -> Result<Self> {
        let backend = Backend(Arc::clone(&file));
        Self::with_backend(number, file, backend, Pages::Trusted, false)
    }

    /// A look through another backend, which keeps for itself what is written.
    pub(super) fn over(number: u32, file: Arc<dyn File>, backend: impl StorageBackend, pages: Pages) -> Result<Self> {
        Self::with_backend(number, file, backend, pages, true)
    }

    fn with_backend(
        number: u32,
        file: Arc<dyn File>,
        backend: impl StorageBackend,
        pages: Pages,
        leaves: bool,
    ) -> Result<Self> {
        let health = Health::default();
        let backend = Watched::new(backend, health.clone());
        let database = contained(number, || {
            let mut builder = redb::Builder::new();
            builder.set_cache_size(CACHE_BYTES).set_check_integrity_on_open(pages == Pages::Checked);
            builder.create_with_backend(backend).map_err(|error| health.error(number, error))
        })?;
        Ok(Self {
            number,
            file,
            database: RwLock::new(Some(database)),
            poisoned: AtomicBool::new(false),
            health,
            leaves: leaves.into(),
        })
    }

    /// The file as of its last commit.
    pub(super) fn read(open: &Arc<Self>) -> Result<ReadView> {
        let begun = open.with(|database| database.begin_read().map_err(|error| open.error(error)));
        Ok(ReadView::new(open.number, begun?, Arc::clone(open)))
    }

    pub(super) fn commit(&self, writes: &WriteSet, standing: &Standing, sync: Sync) -> Result<()> {
        let failed = |error: redb::Error| self.error(error);
        self.with(|database| {
            let mut transaction = database.begin_write().map_err(|error| failed(error.into()))?;
            let durability = match sync {
                Sync::Now => redb::Durability::Immediate,
                Sync::Later => redb::Durability::None,
            };
            sabotage!(4, let durability = redb::Durability::None);
            transaction.set_durability(durability).map_err(|error| failed(error.into()))?;
            transaction.set_two_phase_commit(true);
            transaction.set_quick_repair(sync == Sync::Now);
            write_all(&transaction, writes, standing, failed)?;
            transaction.commit().map_err(|error| failed(error.into()))
        })
    }

    /// Copies every value of another file into this one, which is empty, in one commit.
    pub(super) fn take_over(&self, from: &ReadView) -> Result<()> {
        let failed = |error: redb::Error| self.error(error);
        self.with(|database| {
            let mut transaction = database.begin_write().map_err(|error| failed(error.into()))?;
            transaction.set_two_phase_commit(true);
            transaction.set_quick_repair(true);
            for table in Table::ALL {
                let mut open = transaction.open_table(definition(table)).map_err(|error| failed(error.into()))?;
                let mut copied = 0;
                from.scan_from(table, &[], |key, value| {
                    open.insert(key, value).map_err(|error| failed(error.into()))?;
                    copied += 1;
                    Ok(ControlFlow::Continue(()))
                })?;
                // A damaged page may hide values: then the old file is what can be salvaged.
                if copied != from.count(table)? {
                    let (number, name) = (self.number, table.name());
                    return Err(Error::corrupt(format!(
                        "shard {number:02}: table {name} lacks values; run the doctor"
                    )));
                }
            }
            for name in from.unknown_tables()? {
                let definition = TableDefinition::<&[u8], &[u8]>::new(&name);
                let mut open = transaction.open_table(definition).map_err(|error| failed(error.into()))?;
                from.scan_unknown(&name, |key, value| {
                    open.insert(key, value).map_err(|error| failed(error.into()))?;
                    Ok(())
                })?;
            }
            transaction.commit().map_err(|error| failed(error.into()))
        })
    }

    /// The error of a call on the file.
    pub(in crate::storage) fn error(&self, cause: impl Into<redb::Error>) -> Error {
        self.health.error(self.number, cause)
    }

    /// Whether damaged pages made redb refuse every further call.
    pub(super) fn is_lamed(&self) -> bool {
        self.health.is_lamed()
    }

    fn with<T>(&self, work: impl FnOnce(&Database) -> Result<T>) -> Result<T> {
        let database = self.database.read();
        let database = database.as_ref().ok_or_else(|| Error::closed(format!("shard {:02}: closed", self.number)))?;
        let mut done = false;
        let answer = contained(self.number, || {
            let answer = work(database);
            done = true;
            answer
        });
        self.poisoned.fetch_or(!done, Ordering::Relaxed);
        answer
    }

    /// Whoever closes it last leaves it as it is.
    pub(super) fn leave_at_end(&self) {
        self.leaves.store(true, Ordering::Relaxed);
    }

    /// Closes the file and leaves it as it is, whoever still reads it.
    pub(super) fn leave(&self) -> Result<()> {
        let database = self.database.write().take();
        if self.poisoned.load(Ordering::Relaxed) {
            std::mem::forget(database);
            return Err(damaged(self.number));
        }
        drop_unwinding(database);
        Ok(())
    }

    /// Closes the file, whoever still reads it. redb commits then, which damaged pages can make panic.
    pub(super) fn shut(&self) -> Result<()> {
        if self.leaves.load(Ordering::Relaxed) {
            return self.leave();
        }
        let database = self.database.write().take();
        if self.poisoned.load(Ordering::Relaxed) {
            std::mem::forget(database);
            return Err(damaged(self.number));
        }
        contained(self.number, move || {
            drop(database);
            Ok(())
        })
    }
}

/// Drops a database in an unwinding, in which redb commits nothing. Where a panic ends the process there is no unwinding:
/// it is dropped as it is.
fn drop_unwinding(database: Option<Database>) {
    if cfg!(panic = "abort") {
        return drop(database);
    }
    let unwound = catch_unwind(AssertUnwindSafe(move || {
        let _database = database;
        resume_unwind(Box::new(()))
    }));
    drop(unwound);
}

impl Drop for Open {
    fn drop(&mut self) {
        if let Err(error) = self.shut() {
            log::warn!("closing: {error}");
        }
    }
}

fn write_all(
    transaction: &redb::WriteTransaction,
    writes: &WriteSet,
    standing: &Standing,
    failed: impl Fn(redb::Error) -> Error,
) -> Result<()> {
    let mut writes = writes.iter().peekable();
    let mut users = users_before(transaction, standing, &failed)?;
    for table in Table::ALL {
        let touched = writes.peek().is_some_and(|(t, _, _)| *t == table);
        if !touched && standing.seq != 0 && table != Table::Meta {
            continue;
        }
        let mut open = transaction.open_table(definition(table)).map_err(|error| failed(error.into()))?;
        while let Some((_, key, value)) = writes.next_if(|(t, _, _)| *t == table) {
            let had = match value {
                Some(value) => open.insert(key, value).map_err(|error| failed(error.into()))?.is_some(),
                None => open.remove(key).map_err(|error| failed(error.into()))?.is_some(),
            };
            match (table, value, had) {
                (Table::Users, Some(_), false) => users.add(key),
                (Table::Users, None, true) => users.subtract(key),
                _ => {}
            }
        }
        if table == Table::Meta {
            open.insert(LAST_SEQ, standing.with_users(users).encode().as_slice())
                .map_err(|error| failed(error.into()))?;
        }
    }
    Ok(())
}

/// The sum over table `users` that the commit before left.
fn users_before(
    transaction: &redb::WriteTransaction,
    standing: &Standing,
    failed: impl Fn(redb::Error) -> Error,
) -> Result<UsersSum> {
    if standing.seq == 0 {
        return Ok(UsersSum::default());
    }
    let meta = transaction.open_table(definition(Table::Meta)).map_err(|error| failed(error.into()))?;
    let last = meta.get(LAST_SEQ).map_err(|error| failed(error.into()))?;
    Ok(last.map(|last| Standing::decode(last.value())).transpose()?.map_or(standing.users, |last| last.users))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use redb::MultimapTableDefinition;

    use super::*;
    use crate::world::testing::TestWorld;
    use crate::world::{OpenMode, World};

    fn new(world: &World, name: &str) -> Arc<Open> {
        let file: Arc<dyn File> = world.fs().open(Path::new(name), OpenMode::CreateNewPrivate).unwrap().into();
        Arc::new(Open::new(0, file).unwrap())
    }

    fn write(open: &Open, change: impl Fn(&redb::WriteTransaction)) {
        let written = open.with(|database| {
            let transaction = database.begin_write().unwrap();
            change(&transaction);
            transaction.commit().unwrap();
            Ok(())
        });
        written.unwrap();
    }

    #[test]
    fn a_table_that_is_not_known_is_copied_as_it_is_or_the_copy_is_refused() {
        let world = TestWorld::new(1).world();
        let (old, fresh) = (new(&world, "old"), new(&world, "fresh"));
        old.commit(&WriteSet::default(), &Standing::new(0, [1; 16], 0), Sync::Now).unwrap();
        assert_eq!(Open::read(&old).unwrap().unknown_tables().unwrap(), Vec::<String>::new());
        write(&old, |transaction| {
            let mut table = transaction.open_table(TableDefinition::<&[u8], &[u8]>::new("sessions")).unwrap();
            table.insert(&b"key"[..], &b"value"[..]).unwrap();
        });
        fresh.take_over(&Open::read(&old).unwrap()).unwrap();
        let (view, mut found) = (Open::read(&fresh).unwrap(), Vec::new());
        assert_eq!(view.unknown_tables().unwrap(), ["sessions"]);
        let scanned = view.scan_unknown("sessions", |key, value| {
            found.push((key.to_vec(), value.to_vec()));
            Ok(())
        });
        scanned.unwrap();
        assert_eq!(found, [(b"key".to_vec(), b"value".to_vec())]);
        write(&old, |transaction| {
            transaction.open_table(TableDefinition::<u64, u64>::new("of numbers")).unwrap();
        });
        let refused = new(&world, "refused").take_over(&Open::read(&old).unwrap()).unwrap_err();
        assert!(refused.kind() == crate::ErrorKind::Unsupported && refused.message().contains("of numbers"));
        write(&fresh, |transaction| {
            transaction.open_multimap_table(MultimapTableDefinition::<u64, u64>::new("of many")).unwrap();
        });
        let refused = Open::read(&fresh).unwrap().unknown_tables().unwrap_err();
        assert!(refused.message().contains("of many"), "{refused}");
    }
}
