use std::cell::OnceCell;
use std::ops::ControlFlow;

use redb::{ReadOnlyTable, ReadTransaction, TableDefinition};

use crate::codec::table::numbered;
use crate::codec::{Table, UserHash};
use crate::error::{Error, Result};
use crate::storage::fault::{contained, shard_error};

/// A table as redb knows it: bytes to bytes.
pub(crate) const fn definition(table: Table) -> TableDefinition<'static, &'static [u8], &'static [u8]> {
    TableDefinition::new(table.name())
}

/// One shard at one moment. To be dropped soon: what it sees can't be reclaimed meanwhile.
pub(crate) struct ReadView {
    shard: u32,
    transaction: ReadTransaction,
    tables: [OnceCell<ReadOnlyTable<&'static [u8], &'static [u8]>>; Table::ALL.len()],
}

impl ReadView {
    pub(crate) fn new(shard: u32, transaction: ReadTransaction) -> Self {
        Self { shard, transaction, tables: Default::default() }
    }

    fn table(&self, table: Table) -> Result<&ReadOnlyTable<&'static [u8], &'static [u8]>> {
        let cell = self.tables.get(table as usize).ok_or_else(|| Error::corrupt("no table of a shard"))?;
        if let Some(open) = cell.get() {
            return Ok(open);
        }
        let open = self.transaction.open_table(definition(table)).map_err(|error| shard_error(self.shard, error))?;
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
            let found = self.table(table)?.get(key).map_err(|error| shard_error(self.shard, error))?;
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
            let range = self.table(table)?.range::<&[u8]>(start..).map_err(|error| shard_error(self.shard, error))?;
            for item in range {
                let (key, value) = item.map_err(|error| shard_error(self.shard, error))?;
                if visit(key.value(), value.value())?.is_break() {
                    break;
                }
            }
            Ok(())
        })
    }
}
