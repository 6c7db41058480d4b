//! The locks of `parking_lot`, as far as the library's files that are compiled here use them, over shuttle's.

#![expect(clippy::missing_panics_doc, reason = "a model that panics has failed")]

use std::ops::{Deref, DerefMut};

use shuttle::sync;

/// A mutex.
#[derive(Default)]
pub struct Mutex<T>(sync::Mutex<T>);

/// Unlocks when dropped. Empty only while a condition is waited for.
pub struct MutexGuard<'a, T>(Option<sync::MutexGuard<'a, T>>);

/// A condition.
#[derive(Default)]
pub struct Condvar(sync::Condvar);

/// A lock that many readers share.
#[derive(Default)]
pub struct RwLock<T>(sync::RwLock<T>);

impl<T> Mutex<T> {
    /// A mutex around a value.
    pub fn new(value: T) -> Self {
        Self(sync::Mutex::new(value))
    }

    /// Waits for the lock.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        MutexGuard(Some(self.0.lock().expect("no model panics in a lock")))
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_ref().expect("nobody looks while a condition is waited for")
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_mut().expect("nobody looks while a condition is waited for")
    }
}

impl Condvar {
    /// Unlocks, waits for a notice, locks again.
    pub fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
        let held = guard.0.take().expect("a guard holds its lock");
        guard.0 = Some(self.0.wait(held).expect("no model panics in a lock"));
    }

    /// Wakes one who waits.
    pub fn notify_one(&self) {
        self.0.notify_one();
    }
}

impl<T> RwLock<T> {
    /// Waits for a share of the lock.
    pub fn read(&self) -> sync::RwLockReadGuard<'_, T> {
        self.0.read().expect("no model panics in a lock")
    }

    /// Waits for the lock alone.
    pub fn write(&self) -> sync::RwLockWriteGuard<'_, T> {
        self.0.write().expect("no model panics in a lock")
    }

    /// The lock alone, if nobody has it.
    pub fn try_write(&self) -> Option<sync::RwLockWriteGuard<'_, T>> {
        self.0.try_write().ok()
    }
}
