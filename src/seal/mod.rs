//! Keys, the keyring, and the sealing of every stored value.
//!
//! Master key -> root key and store secret -> user key and tombstone key -> chunk keys -> values. To forget is to
//! overwrite a key in the KEYRING; everything sealed under it is noise from then on.

mod aead;
mod digest;
mod key;
mod keyring;
mod master;
mod nonces;
mod plain;
mod sealer;

pub(crate) use aead::Suite;
pub(crate) use digest::DigestKey;
pub(crate) use key::{Key, same_tag};
pub(crate) use keyring::{Keyring, SlotOwner, Standing, UserKeys};
pub use master::MasterKey;
pub(crate) use nonces::Nonces;
pub(crate) use plain::Plain;
pub(crate) use sealer::{Place, Sealer};
