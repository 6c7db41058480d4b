//! The engine against those who know its insides.

mod attacker;
mod erasure;
mod reindex;
mod text_recall;
