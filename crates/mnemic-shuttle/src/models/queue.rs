//! The commit queue: every job once, in one commit at a time, loners alone, and nobody is answered too early.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use shuttle::thread;

use crate::engine::commit_queue::CommitQueue;

const THREADS: usize = 3;
const JOBS: usize = 2;

pub(crate) fn model() {
    let queue = Arc::new(CommitQueue::<usize>::default());
    let done: Arc<Vec<AtomicU32>> = Arc::new((0..THREADS * JOBS).map(|_| AtomicU32::new(0)).collect());
    let busy = Arc::new(AtomicBool::new(false));
    let threads = (0..THREADS).map(|number| {
        let (queue, done, busy) = (Arc::clone(&queue), Arc::clone(&done), Arc::clone(&busy));
        thread::spawn(move || {
            for job in number * JOBS..(number + 1) * JOBS {
                queue.submit(job, |job| is_loner(*job), |batch| commit(&batch, &done, &busy));
                assert_eq!(done[job].load(Ordering::Relaxed), 1, "answered before it was done, or done twice");
            }
        })
    });
    threads.collect::<Vec<_>>().into_iter().for_each(|thread| thread.join().expect("a caller"));
    assert!(done.iter().all(|times| times.load(Ordering::Relaxed) == 1));
}

fn is_loner(job: usize) -> bool {
    job.is_multiple_of(3)
}

fn commit(batch: &[usize], done: &[AtomicU32], busy: &AtomicBool) {
    assert!(!busy.swap(true, Ordering::Relaxed), "two lead");
    assert!(batch.len() == 1 || !batch.iter().any(|job| is_loner(*job)), "a loner is not alone");
    thread::yield_now();
    batch.iter().for_each(|job| _ = done[*job].fetch_add(1, Ordering::Relaxed));
    busy.store(false, Ordering::Relaxed);
}
