//! Runs the built program.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

pub(crate) struct Run {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Run {
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mnemic"));
    command.stdin(Stdio::null());
    command
}

pub(crate) fn mnemic(arguments: &[&str]) -> Run {
    program().args(arguments).output().unwrap().into()
}

/// A store in a directory, as one user.
pub(crate) struct Place {
    pub dir: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.dir.path().join(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        self.run_in("store", arguments)
    }

    /// Without `--user`, for what concerns the whole store.
    pub(crate) fn as_nobody(&self, arguments: &[&str]) -> Run {
        program().args(["--store", &self.path("store")]).args(arguments).output().unwrap().into()
    }

    pub(crate) fn run_in(&self, store: &str, arguments: &[&str]) -> Run {
        program().args(["--store", &self.path(store), "--user", "ada"]).args(arguments).output().unwrap().into()
    }

    pub(crate) fn remember(&self, arguments: &[&str]) -> String {
        let mut all = vec!["remember"];
        all.extend(arguments);
        self.run(&all).expect(0).stdout.trim().to_owned()
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::create_dir_all(Path::new(&path).parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }
}
