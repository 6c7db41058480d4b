//! Text to vectors: the trait for any model, and embedders that need nothing.

#[cfg(feature = "builtin-embedder")]
mod builtin;
mod embedder;
mod hashed;

#[cfg(feature = "builtin-embedder")]
pub use builtin::BuiltinEmbedder;
pub use embedder::{EmbedError, Embedder, Purpose};
pub use hashed::HashedNgrams;
