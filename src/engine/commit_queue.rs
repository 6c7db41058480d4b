//! Group commit: callers queue, one of them leads, commits for all, and hands over.
//!
//! No thread of our own: whoever finds nobody leading leads. While a leader waits for the disk, others queue, so the
//! next commit carries all of them.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};

/// Most jobs of one commit.
const BATCH_MAX: usize = 1024;

/// Jobs that wait for a commit.
pub(crate) struct CommitQueue<J> {
    state: Mutex<State<J>>,
}

struct State<J> {
    waiting: VecDeque<Waiting<J>>,
    leading: bool,
}

/// A job with the ticket of its caller.
pub(crate) struct Waiting<J> {
    pub(crate) job: J,
    ticket: Arc<Ticket>,
}

#[derive(Default)]
struct Ticket {
    turn: Mutex<Turn>,
    changed: Condvar,
}

#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Turn {
    #[default]
    Waits,
    Leads,
    Done,
}

impl<J> Default for CommitQueue<J> {
    fn default() -> Self {
        Self { state: Mutex::new(State { waiting: VecDeque::new(), leading: false }) }
    }
}

impl<J> CommitQueue<J> {
    /// Queues `job` and returns once it was processed, by this caller or another.
    ///
    /// `alone` says of a job that it must be the only one of its commit.
    pub(crate) fn submit(&self, job: J, alone: impl Fn(&J) -> bool, mut process: impl FnMut(Vec<J>)) {
        let ticket = Arc::new(Ticket::default());
        if !self.join(Waiting { job, ticket: Arc::clone(&ticket) }) && ticket.wait() == Turn::Done {
            return;
        }
        let handover = Handover { queue: self };
        // Jobs that must be alone may stand before ours.
        while ticket.turn() != Turn::Done {
            let (jobs, tickets) = self.take_batch(&alone);
            let done = DoneAtDrop(tickets);
            process(jobs);
            drop(done);
        }
        drop(handover);
    }

    /// Whether the caller leads from now on.
    fn join(&self, waiting: Waiting<J>) -> bool {
        let mut state = self.state.lock();
        state.waiting.push_back(waiting);
        !std::mem::replace(&mut state.leading, true)
    }

    fn take_batch(&self, alone: &impl Fn(&J) -> bool) -> (Vec<J>, Vec<Arc<Ticket>>) {
        let mut state = self.state.lock();
        let first_alone = state.waiting.iter().take(BATCH_MAX).position(|waiting| alone(&waiting.job));
        let count = match first_alone {
            Some(0) => 1,
            Some(before) => before,
            None => state.waiting.len().min(BATCH_MAX),
        };
        state.waiting.drain(..count).map(|waiting| (waiting.job, waiting.ticket)).unzip()
    }
}

/// Passes leadership to the longest waiting caller, whatever happened to the leader.
struct Handover<'a, J> {
    queue: &'a CommitQueue<J>,
}

impl<J> Drop for Handover<'_, J> {
    fn drop(&mut self) {
        let mut state = self.queue.state.lock();
        match state.waiting.front() {
            Some(next) => next.ticket.set(Turn::Leads),
            None => state.leading = false,
        }
    }
}

/// Wakes the callers of a batch, also when processing it panicked.
struct DoneAtDrop(Vec<Arc<Ticket>>);

impl Drop for DoneAtDrop {
    fn drop(&mut self) {
        self.0.iter().for_each(|ticket| ticket.set(Turn::Done));
    }
}

impl Ticket {
    fn turn(&self) -> Turn {
        *self.turn.lock()
    }

    fn set(&self, turn: Turn) {
        *self.turn.lock() = turn;
        self.changed.notify_one();
    }

    fn wait(&self) -> Turn {
        let mut turn = self.turn.lock();
        while *turn == Turn::Waits {
            self.changed.wait(&mut turn);
        }
        *turn
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn every_job_is_processed_once_and_loners_alone() {
        let queue = CommitQueue::default();
        let (jobs, batches) = (AtomicU32::new(0), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for thread in 0..8u32 {
                let (queue, jobs, batches) = (&queue, &jobs, &batches);
                scope.spawn(move || {
                    for i in 0..200u32 {
                        queue.submit(
                            thread * 1000 + i,
                            |job| job % 7 == 0,
                            |batch| {
                                assert!(batch.len() == 1 || batch.iter().all(|job| job % 7 != 0));
                                jobs.fetch_add(batch.len() as u32, Ordering::Relaxed);
                                batches.fetch_add(1, Ordering::Relaxed);
                            },
                        );
                    }
                });
            }
        });
        assert_eq!(jobs.load(Ordering::Relaxed), 1600);
        assert!(batches.load(Ordering::Relaxed) <= 1600);
    }

    #[test]
    fn a_panicking_leader_leaves_no_caller_waiting() {
        let queue = CommitQueue::default();
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            queue.submit(1, |_| false, |_| panic!("leader"));
        }));
        assert!(panicked.is_err());
        let mut seen = 0;
        queue.submit(2, |_| false, |batch| seen = batch[0]);
        assert_eq!(seen, 2);
    }
}
