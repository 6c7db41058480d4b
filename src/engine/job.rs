//! A unit of work for the commit queue: runs inside a transaction, answers after the commit.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::engine::transaction::Transaction;
use crate::error::{Error, Result};

/// A job, whatever it answers.
pub(crate) trait AnyJob: Send {
    /// Whether it has to be the only one of its commit.
    fn alone(&self) -> bool;
    /// Stages its writes.
    fn run(&mut self, transaction: &mut Transaction<'_>);
    /// Answers its caller: with its own result, or with the error of the commit.
    fn finish(self: Box<Self>, outcome: &Result<()>);
}

/// Where a job leaves its answer.
pub(crate) type Reply<R> = Arc<Mutex<Option<Result<R>>>>;

/// A job made of a closure.
pub(crate) struct Job<F, R> {
    work: Option<F>,
    result: Option<Result<R>>,
    reply: Reply<R>,
    alone: bool,
}

impl<F, R> Job<F, R>
where
    F: FnOnce(&mut Transaction<'_>) -> Result<R> + Send,
    R: Send,
{
    pub(crate) fn new(alone: bool, work: F) -> (Self, Reply<R>) {
        let reply = Reply::default();
        (Self { work: Some(work), result: None, reply: Arc::clone(&reply), alone }, reply)
    }
}

impl<F, R> AnyJob for Job<F, R>
where
    F: FnOnce(&mut Transaction<'_>) -> Result<R> + Send,
    R: Send,
{
    fn alone(&self) -> bool {
        self.alone
    }

    fn run(&mut self, transaction: &mut Transaction<'_>) {
        if let Some(work) = self.work.take() {
            self.result = Some(transaction.attempt(work));
        }
    }

    fn finish(self: Box<Self>, outcome: &Result<()>) {
        let answer = match (self.result, outcome) {
            (Some(Ok(_)) | None, Err(error)) => Err(error.duplicate()),
            (Some(result), _) => result,
            (None, Ok(())) => Err(abandoned()),
        };
        *self.reply.lock() = Some(answer);
    }
}

/// Takes the answer of a job that was processed.
pub(crate) fn answer<R>(reply: &Reply<R>) -> Result<R> {
    reply.lock().take().unwrap_or_else(|| Err(abandoned()))
}

fn abandoned() -> Error {
    Error::io("the commit was abandoned: reopen the store and look whether the write is there")
}
