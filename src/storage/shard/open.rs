use std::ops::ControlFlow;
use std::sync::Arc;

use parking_lot::RwLock;
use redb::{Database, ReadableDatabase};

use super::{LAST_SEQ, Standing, Sync};
use crate::codec::Table;
use crate::error::{Error, Result};
use crate::storage::backend::Backend;
use crate::storage::fault::{contained, shard_error};
use crate::storage::read_view::definition;
use crate::storage::{ReadView, WriteSet};
use crate::world::File;

/// redb's own cache; the hot data is ours.
const CACHE_BYTES: usize = 8 << 20;

/// A file of redb's, for as long as somebody reads it.
pub(in crate::storage) struct Open {
    number: u32,
    pub(super) file: Arc<dyn File>,
    database: RwLock<Option<Database>>,
}

impl Open {
    pub(super) fn new(number: u32, file: Arc<dyn File>) -> Result<Self> {
        let backend = Backend(Arc::clone(&file));
        let database = contained(number, || {
            let opened = redb::Builder::new().set_cache_size(CACHE_BYTES).create_with_backend(backend);
            opened.map_err(|error| shard_error(number, error))
        })?;
        Ok(Self { number, file, database: RwLock::new(Some(database)) })
    }

    /// The file as of its last commit.
    pub(super) fn read(open: &Arc<Self>) -> Result<ReadView> {
        let begun = open.with(|database| database.begin_read().map_err(|error| shard_error(open.number, error)));
        Ok(ReadView::new(open.number, begun?, Arc::clone(open)))
    }

    pub(super) fn commit(&self, writes: &WriteSet, standing: &Standing, sync: Sync) -> Result<()> {
        let failed = |error: redb::Error| shard_error(self.number, error);
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
            write_all(&transaction, writes, standing).map_err(failed)?;
            transaction.commit().map_err(|error| failed(error.into()))
        })
    }

    /// Copies every value of another file into this one, which is empty, in one commit.
    pub(super) fn take_over(&self, from: &ReadView) -> Result<()> {
        let failed = |error: redb::Error| shard_error(self.number, error);
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
            transaction.commit().map_err(|error| failed(error.into()))
        })
    }

    fn with<T>(&self, work: impl FnOnce(&Database) -> Result<T>) -> Result<T> {
        let database = self.database.read();
        let database = database.as_ref().ok_or_else(|| Error::closed(format!("shard {:02}: closed", self.number)))?;
        contained(self.number, || work(database))
    }

    /// Closes the file, whoever still reads it. redb commits then, which damaged pages can make panic.
    pub(super) fn shut(&self) -> Result<()> {
        let database = self.database.write().take();
        contained(self.number, move || {
            drop(database);
            Ok(())
        })
    }
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
) -> std::result::Result<(), redb::Error> {
    let mut writes = writes.iter().peekable();
    for table in Table::ALL {
        let touched = writes.peek().is_some_and(|(t, _, _)| *t == table);
        if !touched && standing.seq != 0 && table != Table::Meta {
            continue;
        }
        let mut open = transaction.open_table(definition(table))?;
        while let Some((_, key, value)) = writes.next_if(|(t, _, _)| *t == table) {
            match value {
                Some(value) => _ = open.insert(key, value)?,
                None => _ = open.remove(key)?,
            }
        }
        if table == Table::Meta {
            open.insert(LAST_SEQ, standing.encode().as_slice())?;
        }
    }
    Ok(())
}
