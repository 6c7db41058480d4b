//! The arena against its dumb twin, and its own bookkeeping.

mod brute;
mod exact;
mod store;
mod upkeep;
