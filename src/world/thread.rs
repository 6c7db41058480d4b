//! This process and its threads.
#![expect(clippy::disallowed_methods, reason = "this is the door to threads")]

use crate::error::{Error, Result};

/// The process that the library runs in.
pub trait Process: Send + Sync {
    /// The process number; differs in a forked child.
    fn id(&self) -> u32;

    /// A variable of the environment; `None` where it is not set, or not text.
    fn variable(&self, name: &str) -> Option<String>;

    /// Starts a named thread.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`](crate::ErrorKind::Io): the operating system gave no thread.
    fn spawn(&self, name: &str, body: Box<dyn FnOnce() + Send>) -> Result<JoinHandle>;
}

/// A running thread. Dropping the handle detaches the thread.
#[derive(Debug)]
pub struct JoinHandle(std::thread::JoinHandle<()>);

impl JoinHandle {
    /// Waits for the thread to end.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`](crate::ErrorKind::Io): the thread panicked.
    pub fn join(self) -> Result<()> {
        self.0.join().map_err(|_| Error::io("a background thread panicked"))
    }

    /// Whether the thread has ended.
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }

    /// Whether the caller is this thread, which then must not join it.
    pub fn is_current(&self) -> bool {
        self.0.thread().id() == std::thread::current().id()
    }
}

/// Lets other threads of this core run first, if any are ready.
pub fn yield_now() {
    std::thread::yield_now();
}

/// The real process.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemProcess;

impl Process for SystemProcess {
    fn id(&self) -> u32 {
        std::process::id()
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn spawn(&self, name: &str, body: Box<dyn FnOnce() + Send>) -> Result<JoinHandle> {
        std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(body)
            .map(JoinHandle)
            .map_err(|cause| Error::io(format!("cannot start the thread {name}")).with_source(cause))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_at_join() {
        let quiet = SystemProcess.spawn("quiet", Box::new(|| {})).unwrap();
        assert!(!quiet.is_current());
        assert!(quiet.join().is_ok());
        let loud = SystemProcess.spawn("loud", Box::new(|| std::panic::resume_unwind(Box::new(())))).unwrap();
        assert!(loud.join().is_err());
    }
}
