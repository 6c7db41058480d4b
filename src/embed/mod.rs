//! Text to vectors: the trait for any model, and an embedder that needs none.

mod embedder;
mod hashed;

pub use embedder::{EmbedError, Embedder, Purpose};
pub use hashed::HashedNgrams;
