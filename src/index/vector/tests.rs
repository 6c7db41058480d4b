//! The arena against its dumb twin, and its own bookkeeping.

mod approximate;
mod brute;
mod exact;
mod lists;
mod store;
mod upkeep;
