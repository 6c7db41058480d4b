//! Who may import whom.

use std::collections::BTreeMap;

use crate::source::{Source, identifier, words};

/// Each room and the rooms it may name.
const DOORS: [(&str, &[&str]); 14] = [
    ("error", &[]),
    ("sabotage", &[]),
    ("kernel", &[]),
    ("memory", &["error"]),
    ("world", &["memory", "error"]),
    ("policy", &["memory", "error"]),
    ("text", &["memory", "error"]),
    ("codec", &["memory", "error"]),
    ("seal", &["codec", "memory", "world", "error"]),
    ("storage", &["codec", "seal", "memory", "world", "error"]),
    ("index", &["kernel", "policy", "codec", "text", "memory", "world", "error"]),
    ("embed", &["text", "memory", "world", "error"]),
    ("engine", &["kernel", "policy", "text", "codec", "seal", "storage", "index", "embed", "memory", "world", "error"]),
    ("api", &["engine", "policy", "embed", "text", "seal", "memory", "world", "error"]),
];

/// What the crate's root re-exports, and from which room.
pub(crate) type Exports = BTreeMap<String, String>;

pub(crate) fn exports(sources: &[Source]) -> Exports {
    let mut exports = Exports::new();
    let Some(lib) = sources.iter().find(|source| source.path == "src/lib.rs") else { return exports };
    for at in words(&lib.code, "use") {
        let statement = lib.code[at + 3..].split(';').next().unwrap_or_default();
        let statement = statement.trim_start().trim_start_matches("crate::");
        let room = identifier(statement);
        let names = statement[room.len()..].split(|c: char| !(c == '_' || c.is_alphanumeric()));
        exports.extend(names.filter(|name| !name.is_empty()).map(|name| (name.to_owned(), room.to_owned())));
    }
    exports
}

pub(crate) fn faults(source: &Source, exports: &Exports) -> Vec<String> {
    let Some(room) = source.room() else { return Vec::new() };
    let Some((_, open)) = DOORS.iter().find(|(name, _)| *name == room) else {
        return vec![source.fault(1, &format!("the room `{room}` is not in the floor plan (tests/tidy/doors.rs)"))];
    };
    let mut faults = Vec::new();
    for (at, name) in named(source) {
        let target = DOORS.iter().map(|(room, _)| *room).find(|room| *room == name);
        let target = target.or_else(|| exports.get(name).map(String::as_str));
        let line = source.line_at(at);
        match target {
            None => faults.push(source.fault(line, &format!("`crate::{name}` belongs to no room"))),
            Some(target) if target == room || open.contains(&target) => {}
            Some(target) => {
                let says = format!("`{room}` has no door to `{target}` (it may use: {})", open.join(", "));
                faults.push(source.fault(line, &says));
            }
        }
    }
    faults
}

/// What a file names at the crate's root, with where.
fn named(source: &Source) -> Vec<(usize, &str)> {
    let code = source.code.as_str();
    let mut named: Vec<(usize, &str)> = Vec::new();
    let paths = words(code, "crate::").map(|at| (at, at + "crate::".len()));
    for (at, rest) in paths.chain(climbs(source)) {
        let path = &code[rest..];
        match path.trim_start().strip_prefix('{') {
            Some(group) => named.extend(group_names(group).into_iter().map(|name| (at, name))),
            None if path[identifier(path).len()..].starts_with('!') => {}
            None => named.push((at, identifier(path))),
        }
    }
    named
}

/// The chains of `super::` that reach the crate's root: where they begin and end.
fn climbs(source: &Source) -> Vec<(usize, usize)> {
    let code = source.code.as_str();
    let mut climbs = Vec::new();
    for at in words(code, "super::").filter(|at| !code[..*at].ends_with("super::")) {
        let steps = code[at..].split("::").take_while(|part| *part == "super").count();
        let inner = usize::from(source.is_test(source.line_at(at)) && !source.path.ends_with("tests.rs"));
        if steps >= depth(&source.path) + inner {
            climbs.push((at, at + steps * "super::".len()));
        }
    }
    climbs
}

/// How many modules deep a file of the library is.
fn depth(path: &str) -> usize {
    path.split('/').count() - 1 - usize::from(path.ends_with("/mod.rs"))
}

/// The first names of the paths in a `use` group, after its opening brace.
fn group_names(group: &str) -> Vec<&str> {
    let (mut depth, mut start, mut names) = (0, 0, Vec::new());
    for (index, byte) in group.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' if depth > 0 => depth -= 1,
            b',' | b'}' if depth == 0 => {
                names.push(identifier(&group[start..index]));
                start = index + 1;
                if byte == b'}' {
                    break;
                }
            }
            _ => {}
        }
    }
    names.retain(|name| !name.is_empty());
    names
}
