//! Everything but the doors.

use crate::source::{Source, block_end, body_start, identifier, words};

const FILE_LINES_MAX: usize = 500;
const FUNCTION_LINES_MAX: usize = 70;

/// Names of the outside, the room where they may stand, and what to use elsewhere.
const OUTSIDE: [(&str, &str, &str); 14] = [
    ("redb", "storage", "only src/storage knows redb"),
    ("SystemTime", "world", "ask World::now_micros"),
    ("Instant::now", "world", "ask World::monotonic_micros"),
    ("thread::spawn", "world", "ask World::spawn"),
    ("thread::Builder", "world", "ask World::spawn"),
    ("thread::sleep", "world", "wait on a condition"),
    ("process::id", "world", "ask World::process_id"),
    ("getrandom", "world", "ask World::fill"),
    ("std::fs", "world", "ask World::fs"),
    ("fs::File", "world", "ask World::fs"),
    ("File::open", "world", "ask World::fs"),
    ("File::create", "world", "ask World::fs"),
    ("OpenOptions", "world", "ask World::fs"),
    ("std::env", "world", "take it as an argument"),
];

const PANICS: [&str; 11] = [
    ".unwrap()",
    ".expect(",
    ".unwrap_err()",
    ".expect_err(",
    "panic!",
    "todo!",
    "unimplemented!",
    "unreachable!",
    "dbg!",
    "println!",
    "eprintln!",
];

/// Split, so that this file does not name a home itself.
const HOMES: [&str; 3] = [concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("/Us", "ers/")];

pub(crate) fn outside_faults(source: &Source) -> Vec<String> {
    let mut faults = Vec::new();
    for (name, room, instead) in OUTSIDE {
        if source.room() == Some(room) {
            continue;
        }
        let found = words(&source.code, name).map(|at| source.line_at(at));
        faults.extend(found.map(|line| source.fault(line, &format!("`{name}` outside src/{room}: {instead}"))));
    }
    faults
}

pub(crate) fn panic_faults(source: &Source) -> Vec<String> {
    let mut faults = Vec::new();
    for name in PANICS {
        let found = words(&source.code, name).map(|at| source.line_at(at)).filter(|line| !source.is_test(*line));
        faults.extend(found.map(|line| source.fault(line, &format!("`{name}` in the library: return an error"))));
    }
    faults
}

pub(crate) fn unsafe_faults(source: &Source) -> Vec<String> {
    let mut faults = Vec::new();
    for at in words(&source.code, "unsafe") {
        let line = source.line_at(at);
        let next = source.code[at + "unsafe".len()..].trim_start();
        if source.room() != Some("kernel") {
            faults.push(source.fault(line, "`unsafe` outside src/kernel"));
        } else if (next.starts_with('{') || identifier(next) == "impl") && !says_why(source, line) {
            faults.push(source.fault(line, "`unsafe` without a SAFETY comment above"));
        }
    }
    faults
}

/// Whether a SAFETY comment stands on the line or directly above the statement that it is part of.
fn says_why(source: &Source, line: usize) -> bool {
    let code: Vec<_> = source.code.lines().collect();
    let comments: Vec<_> = source.comments.lines().collect();
    if comments[line - 1].contains("SAFETY:") {
        return true;
    }
    for index in (0..line - 1).rev() {
        if comments[index].contains("SAFETY:") {
            return true;
        }
        let (code, comment) = (code[index].trim(), comments[index].trim());
        let ends = code.ends_with([';', '{', '}', ',']);
        if ends || (code.is_empty() && comment.is_empty()) {
            return false;
        }
    }
    false
}

pub(crate) fn size_faults(source: &Source) -> Vec<String> {
    let lines = source.text.lines().count();
    let mut faults = Vec::new();
    if lines > FILE_LINES_MAX {
        faults.push(source.fault(lines, &format!("{lines} lines in a file, at most {FILE_LINES_MAX}")));
    }
    for (line, length, name) in functions(source) {
        if length > FUNCTION_LINES_MAX && !source.is_test(line) {
            let says = format!("{length} lines in the function `{name}`, at most {FUNCTION_LINES_MAX}");
            faults.push(source.fault(line, &says));
        }
    }
    faults
}

/// Line, length and name of each function that has a body.
fn functions(source: &Source) -> Vec<(usize, usize, &str)> {
    let code = source.code.as_str();
    let named = words(code, "fn").map(|at| (at, identifier(&code[at + 2..]))).filter(|(_, name)| !name.is_empty());
    named
        .filter_map(|(at, name)| {
            let end = block_end(code, body_start(code, at)?);
            Some((source.line_at(at), source.line_at(end) + 1 - source.line_at(at), name))
        })
        .collect()
}

pub(crate) fn path_faults(source: &Source) -> Vec<String> {
    let mut faults = Vec::new();
    for (index, line) in source.text.lines().enumerate() {
        let found = HOMES.iter().filter(|home| line.contains(*home));
        faults.extend(found.map(|home| source.fault(index + 1, &format!("a path into `{home}`"))));
    }
    faults
}
