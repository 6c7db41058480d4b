//! The arena against its dumb twin, and its own bookkeeping.

mod exact;
mod store;
mod upkeep;
