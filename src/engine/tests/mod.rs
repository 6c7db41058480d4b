//! The engine against those who know its insides.

mod attacker;
mod erasure;
mod newer;
mod reindex;
mod stale_row;
mod text_recall;
