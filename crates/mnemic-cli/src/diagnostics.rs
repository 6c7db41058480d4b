//! What goes to stderr beside errors: warnings of the program and of the library.

use std::io::Write;

use log::{LevelFilter, Log, Metadata, Record};

use crate::output::printable;

/// Says one line on stderr; where nobody can hear it, nothing.
pub(crate) fn say(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", printable(text));
}

/// From now on the library's warnings are shown.
pub(crate) fn show_warnings() {
    if log::set_logger(&Stderr).is_ok() {
        log::set_max_level(LevelFilter::Warn);
    }
}

struct Stderr;

impl Log for Stderr {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("mnemic")
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            say(&format!("{}: {}", record.level().as_str().to_lowercase(), record.args()));
        }
    }

    fn flush(&self) {}
}
