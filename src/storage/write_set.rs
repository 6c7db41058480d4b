use std::collections::btree_map::{BTreeMap, Entry};

use crate::codec::Table;

/// What a set says of one key.
pub(crate) enum Staged<'a> {
    /// Nothing.
    Untouched,
    /// It is to go.
    Removed,
    /// Its new value.
    Put(&'a [u8]),
}

/// The writes of one transaction, in the order of tables and keys: the last one of a key counts.
#[derive(Debug, Default)]
pub(crate) struct WriteSet(BTreeMap<(Table, Vec<u8>), Option<Vec<u8>>>);

impl WriteSet {
    pub(crate) fn put(&mut self, table: Table, key: &[u8], value: Vec<u8>) {
        self.0.insert((table, key.to_vec()), Some(value));
    }

    pub(crate) fn remove(&mut self, table: Table, key: &[u8]) {
        self.0.insert((table, key.to_vec()), None);
    }

    /// What this set says of a key.
    pub(crate) fn get(&self, table: Table, key: &[u8]) -> Staged<'_> {
        match self.0.get(&(table, key.to_vec())) {
            None => Staged::Untouched,
            Some(None) => Staged::Removed,
            Some(Some(value)) => Staged::Put(value),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes over the writes of a later set.
    pub(crate) fn absorb(&mut self, later: Self) {
        if self.0.is_empty() {
            self.0 = later.0;
            return;
        }
        for (key, value) in later.0 {
            match self.0.entry(key) {
                Entry::Occupied(mut entry) => _ = entry.insert(value),
                Entry::Vacant(entry) => _ = entry.insert(value),
            }
        }
    }

    /// The writes of one table whose keys begin with `prefix`, in order.
    pub(crate) fn of_prefix<'a>(
        &'a self,
        table: Table,
        prefix: &'a [u8],
    ) -> impl Iterator<Item = (&'a [u8], Option<&'a [u8]>)> {
        self.0
            .range((table, prefix.to_vec())..)
            .take_while(move |((t, key), _)| *t == table && key.starts_with(prefix))
            .map(|((_, key), value)| (key.as_slice(), value.as_deref()))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (Table, &[u8], Option<&[u8]>)> {
        self.0.iter().map(|((table, key), value)| (*table, key.as_slice(), value.as_deref()))
    }
}
