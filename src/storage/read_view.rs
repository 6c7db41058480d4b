use std::cell::OnceCell;
use std::ops::ControlFlow;
use std::sync::Arc;

use redb::{
    MultimapTableHandle, ReadOnlyTable, ReadTransaction, ReadableTable, ReadableTableMetadata, TableDefinition,
    TableHandle,
};

use crate::codec::table::numbered;
use crate::codec::{Table, UserHash};
use crate::error::{Error, Result};
use crate::storage::fault::contained;
use crate::storage::shard::Open;

/// A table as redb knows it: bytes to bytes.
pub(crate) const fn definition(table: Table) -> TableDefinition<'static, &'static [u8], &'static [u8]> {
    TableDefinition::new(table.name())
}

/// One shard at one moment. To be dropped soon: what it sees can't be reclaimed meanwhile.
pub(crate) struct ReadView {
    shard: u32,
    tables: [OnceCell<ReadOnlyTable<&'static [u8], &'static [u8]>>; Table::ALL.len()],
    transaction: ReadTransaction,
    /// Stays open for as long as it is read, also where a rewritten file has taken its name.
    open: Arc<Open>,
}

impl ReadView {
    pub(super) fn new(shard: u32, transaction: ReadTransaction, open: Arc<Open>) -> Self {
        Self { shard, tables: Default::default(), transaction, open }
    }

    /// How many values `table` says that it has.
    pub(super) fn count(&self, table: Table) -> Result<u64> {
        contained(self.shard, || self.table(table)?.len().map_err(|error| self.open.error(error)))
    }

    /// Bytes of the pages that the tables use. Reads all of them.
    pub(crate) fn used_bytes(&self) -> Result<u64> {
        contained(self.shard, || {
            let mut bytes = 0;
            for table in Table::ALL {
                let stats = self.table(table)?.stats().map_err(|error| self.open.error(error))?;
                bytes += stats.stored_bytes() + stats.metadata_bytes() + stats.fragmented_bytes();
            }
            Ok(bytes)
        })
    }

    /// Tables that this version does not know.
    ///
    /// # Errors
    ///
    /// `Unsupported`: one that does not even hold bytes.
    pub(crate) fn unknown_tables(&self) -> Result<Vec<String>> {
        contained(self.shard, || {
            let failed = |error: redb::StorageError| self.open.error(error);
            if let Some(table) = self.transaction.list_multimap_tables().map_err(failed)?.next() {
                return Err(Error::newer(format!("table {}", table.name())));
            }
            let names = self.transaction.list_tables().map_err(failed)?.map(|table| table.name().to_owned());
            Ok(names.filter(|name| !Table::ALL.iter().any(|table| table.name() == name)).collect())
        })
    }

    /// Hands every value of a table that this version does not know to `visit`.
    pub(super) fn scan_unknown(&self, name: &str, mut visit: impl FnMut(&[u8], &[u8]) -> Result<()>) -> Result<()> {
        contained(self.shard, || {
            let definition = TableDefinition::<&[u8], &[u8]>::new(name);
            let table = self.transaction.open_table(definition).map_err(|error| match error {
                redb::TableError::Storage(error) => self.open.error(error),
                _ => Error::newer(format!("table {name}")),
            })?;
            for item in table.iter().map_err(|error| self.open.error(error))? {
                let (key, value) = item.map_err(|error| self.open.error(error))?;
                visit(key.value(), value.value())?;
            }
            Ok(())
        })
    }

    fn table(&self, table: Table) -> Result<&ReadOnlyTable<&'static [u8], &'static [u8]>> {
        let cell = self.tables.get(table as usize).ok_or_else(|| Error::corrupt("no table of a shard"))?;
        if let Some(open) = cell.get() {
            return Ok(open);
        }
        let open = self.transaction.open_table(definition(table)).map_err(|error| self.open.error(error))?;
        Ok(cell.get_or_init(|| open))
    }

    /// Hands the value at `key` to `read`, without a copy.
    pub(crate) fn get_with<T>(
        &self,
        table: Table,
        key: &[u8],
        read: impl FnOnce(&[u8]) -> Result<T>,
    ) -> Result<Option<T>> {
        contained(self.shard, || {
            let found = self.table(table)?.get(key).map_err(|error| self.open.error(error))?;
            found.map(|guard| read(guard.value())).transpose()
        })
    }

    /// The value at `key`.
    pub(crate) fn get(&self, table: Table, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.get_with(table, key, |bytes| Ok(bytes.to_vec()))
    }

    /// Hands every value of a user in `table` to `visit`, in the order of keys: the one iterator of all reads.
    pub(crate) fn scan_user(
        &self,
        table: Table,
        user: UserHash,
        mut visit: impl FnMut(&[u8], &[u8]) -> Result<()>,
    ) -> Result<()> {
        self.scan_from(table, &user.0, |key, value| {
            if !key.starts_with(&user.0) {
                return Ok(ControlFlow::Break(()));
            }
            visit(key, value).map(ControlFlow::Continue)
        })
    }

    /// Whether `table` has any value of a user.
    pub(crate) fn has_any(&self, table: Table, user: UserHash) -> Result<bool> {
        let mut found = false;
        self.scan_from(table, &user.0, |key, _| {
            found = key.starts_with(&user.0);
            Ok(ControlFlow::Break(()))
        })?;
        Ok(found)
    }

    /// The same for the values whose numbers lie in `numbers`.
    pub(crate) fn scan_numbered(
        &self,
        table: Table,
        user: UserHash,
        numbers: std::ops::Range<u64>,
        mut visit: impl FnMut(&[u8], &[u8]) -> Result<()>,
    ) -> Result<()> {
        let end = numbered(user, numbers.end);
        self.scan_from(table, &numbered(user, numbers.start), |key, value| {
            if key >= end.as_slice() {
                return Ok(ControlFlow::Break(()));
            }
            visit(key, value).map(ControlFlow::Continue)
        })
    }

    /// Hands the values of `table` from `start` on to `visit`, until it says stop. Across users only for `users`.
    pub(crate) fn scan_from(
        &self,
        table: Table,
        start: &[u8],
        mut visit: impl FnMut(&[u8], &[u8]) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        contained(self.shard, || {
            let range = self.table(table)?.range::<&[u8]>(start..).map_err(|error| self.open.error(error))?;
            for item in range {
                let (key, value) = item.map_err(|error| self.open.error(error))?;
                if visit(key.value(), value.value())?.is_break() {
                    break;
                }
            }
            Ok(())
        })
    }
}
