//! The checker is checked: samples that must fail, and their twins that must not.

use crate::doors::{self, Exports};
use crate::rules;
use crate::source::Source;

fn doors_of(path: &str, text: &str) -> Vec<String> {
    let exports = Exports::from([("Error".to_owned(), "error".to_owned())]);
    doors::faults(&Source::new(path, text), &exports)
}

#[track_caller]
fn assert_lines(faults: &[String], path: &str, lines: &[usize]) {
    let found: Vec<_> = faults.iter().map(|fault| fault.split(": ").next().unwrap_or_default().to_owned()).collect();
    let expected: Vec<_> = lines.iter().map(|line| format!("{path}:{line}")).collect();
    assert_eq!(found, expected, "{faults:?}");
}

#[test]
fn a_closed_door_is_seen_in_every_spelling() {
    let path = "src/policy/score.rs";
    assert_lines(&doors_of(path, "use crate::memory::Memory;\nuse crate::world::World;\n"), path, &[2]);
    assert_lines(&doors_of(path, "fn f() {\n    crate::engine::run();\n}\n"), path, &[2]);
    assert_lines(
        &doors_of(path, "use crate::{\n    error::Result, memory::{A, B},\n    storage::S,\n};\n"),
        path,
        &[1],
    );
    assert_lines(&doors_of(path, "use super::super::storage::S;\nuse super::curve::C;\n"), path, &[1]);
    assert_lines(&doors_of(path, "use crate::attic::X;\n"), path, &[1]);
}

#[test]
fn open_doors_comments_and_strings_are_left_alone() {
    let text = "// crate::world\n/* crate::engine */\nuse crate::Error;\nconst S: &str = \"crate::storage\";\n\
                const R: &str = r#\"\"crate::seal\"\"#;\nfn f<'a>(c: char) -> bool { c == '\"' }\nuse crate::policy::x;\n";
    assert_lines(&doors_of("src/policy/mod.rs", text), "", &[]);
    assert_lines(&doors_of("src/lib.rs", "pub use crate::engine::E;\n"), "", &[]);
}

#[test]
fn a_room_outside_the_plan_is_refused() {
    assert_lines(&doors_of("src/attic/mod.rs", ""), "src/attic/mod.rs", &[1]);
}

#[test]
fn the_root_exports_are_read_from_its_use_lines() {
    let lib = Source::new("src/lib.rs", "mod error;\npub use error::{Error, Result};\npub use crate::api::Store;\n");
    let exports = doors::exports(&[lib]);
    assert_eq!(exports.get("Result").map(String::as_str), Some("error"));
    assert_eq!(exports.get("Store").map(String::as_str), Some("api"));
}

#[test]
fn unsafe_needs_the_kernel_and_a_reason() {
    let bare = "fn f() {\n    unsafe { g() }\n}\n";
    let told = "fn f() {\n    // SAFETY: g asks for nothing.\n    let x =\n        unsafe { g() };\n}\n";
    let far = "// SAFETY: of something else.\nfn f() {\n    g();\n    unsafe { g() }\n}\nunsafe impl Send for X {}\n";
    let check = |path, text| rules::unsafe_faults(&Source::new(path, text));
    assert_lines(&check("src/kernel/x.rs", bare), "src/kernel/x.rs", &[2]);
    assert_lines(&check("src/kernel/x.rs", far), "src/kernel/x.rs", &[4, 6]);
    assert_lines(&check("src/kernel/x.rs", told), "", &[]);
    assert_lines(&check("src/index/x.rs", told), "src/index/x.rs", &[4]);
    assert_lines(&check("src/lib.rs", "#![deny(unsafe_code)] // no unsafe\n"), "", &[]);
}

#[test]
fn the_outside_enters_by_its_rooms() {
    let text = "use redb::Database;\nuse std::time::SystemTime;\nfn f() {\n    std::fs::read(p);\n    getrandom::fill(b);\n}\n";
    let check = |path| rules::outside_faults(&Source::new(path, text)).len();
    assert_eq!((check("src/engine/x.rs"), check("src/storage/x.rs"), check("src/world/x.rs")), (4, 3, 1));
}

#[test]
fn panics_are_for_tests() {
    let path = "src/engine/x.rs";
    let text = "#[expect(dead_code, reason = \"x\")]\nfn f() {\n    a.unwrap();\n    b.expect(\"b\");\n    c.unwrap_or(1);\n}\n\
                #[cfg(test)]\nmod tests {\n    fn f() {\n        a.unwrap();\n        panic!();\n    }\n}\nfn g() { todo!() }\n";
    assert_lines(&rules::panic_faults(&Source::new(path, text)), path, &[3, 4, 14]);
    assert_lines(&rules::panic_faults(&Source::new("src/engine/x/tests.rs", text)), "", &[]);
    let declared = "#[cfg(test)]\nmod tests;\nfn f() {\n    a.unwrap();\n}\n";
    assert_lines(&rules::panic_faults(&Source::new(path, declared)), path, &[4]);
}

#[test]
fn long_files_and_functions_are_told_apart() {
    let long = format!("fn f(a: [u8; 4], g: fn(u8)) -> u8 {{\n{}}}\n", "    g('{');\n".repeat(69));
    let check = |path: &str, text: &str| rules::size_faults(&Source::new(path, text));
    assert_lines(&check("src/x/y.rs", &long), "src/x/y.rs", &[1]);
    assert_lines(&check("src/x/y.rs", &long.replacen("    g('{');\n", "", 1)), "", &[]);
    assert_lines(&check("src/x/tests.rs", &long), "", &[]);
    assert_lines(&check("src/x/tests.rs", &"//\n".repeat(501)), "src/x/tests.rs", &[501]);
}

#[test]
fn homes_are_seen_in_papers_too() {
    let text = ["see", concat!("/ho", "me/ada/notes"), "/usr/bin"].join("\n");
    assert_lines(&rules::path_faults(&Source::new("docs/a.md", &text)), "docs/a.md", &[2]);
}
