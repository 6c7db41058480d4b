//! The `mnemic` program.
fn main() {}
