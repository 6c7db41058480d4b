//! What does things: commits, reads, recalls, erases.

mod change;
mod commit;
mod commit_queue;
mod core;
mod forget;
mod forget_user;
mod head;
mod job;
mod remember;
mod spaces;
mod transaction;
mod user_cell;
mod user_index;
mod user_writer;
