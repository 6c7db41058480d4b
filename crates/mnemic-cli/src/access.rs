//! The store and the user that the options name.

use std::path::PathBuf;

use mnemic::memory::{MemoryId, Sensitivity};
use mnemic::{Builder, BuiltinEmbedder, MasterKey, Store, User};

use crate::args::Global;
use crate::failure::{Failure, Result};

const STORE_DEFAULT: &str = "memory";

impl Global {
    /// Opens the store; where there is none, that is an error.
    pub(crate) fn open(&self) -> Result<Store> {
        Ok(self.builder()?.create(false).open()?)
    }

    /// Opens the store, or makes it.
    pub(crate) fn open_or_create(&self) -> Result<Store> {
        Ok(self.builder()?.open()?)
    }

    /// The handle of the named user.
    pub(crate) fn handle(&self, store: &Store) -> Result<User> {
        Ok(store.user(self.user_id()?)?.with_level(self.level))
    }

    pub(crate) fn user_id(&self) -> Result<&str> {
        self.user.as_deref().ok_or_else(|| Failure::usage("whose memories? name the user with --user ID"))
    }

    /// Refuses options that a command would not obey.
    pub(crate) fn refuse(&self, command: &str, options: &[&str]) -> Result<()> {
        let given = [
            ("--store", self.store.is_some()),
            ("--user", self.user.is_some()),
            ("--level", self.level != Sensitivity::Personal),
            ("--passphrase-env", self.passphrase_env.is_some()),
        ];
        match given.iter().find(|(option, given)| *given && options.contains(option)) {
            Some((option, _)) => Err(Failure::usage(format!("{command} takes no {option}"))),
            None => Ok(()),
        }
    }

    fn builder(&self) -> Result<Builder> {
        let path = self.store.clone().unwrap_or_else(|| PathBuf::from(STORE_DEFAULT));
        self.with_key(Store::builder(path).embedder(BuiltinEmbedder::new()))
    }

    /// The builder with the master key that the options name.
    pub(crate) fn with_key(&self, builder: Builder) -> Result<Builder> {
        Ok(match &self.passphrase_env {
            Some(variable) => builder.master_key(MasterKey::passphrase(passphrase(variable)?)),
            None => builder,
        })
    }
}

pub(crate) fn memory_id(text: &str) -> Result<MemoryId> {
    Ok(text.parse()?)
}

pub(crate) fn passphrase(variable: &str) -> Result<String> {
    std::env::var(variable)
        .map_err(|_| Failure::usage(format!("passphrase: the environment variable {variable} is not set or not UTF-8")))
}
