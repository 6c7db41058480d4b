//! `mnemic-torture`: see the library of this package.

use std::process::ExitCode;

/// Counts bytes, so that what a parser takes for hostile bytes can be told.
#[global_allocator]
static ALLOCATOR: mnemic_torture::Allocator = mnemic_torture::Allocator::new(std::alloc::System, usize::MAX);

fn main() -> ExitCode {
    mnemic_torture::measure_by(&ALLOCATOR);
    mnemic_torture::run()
}
