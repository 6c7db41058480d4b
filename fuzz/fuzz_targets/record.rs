#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| mnemic_torture::fuzz::run("record", input));
