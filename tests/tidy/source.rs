//! A source file with its comments and strings told apart from its code.
#![expect(clippy::disallowed_methods, reason = "the test reads the sources themselves")]

use std::fs;
use std::path::Path;

/// A file; `code` and `comments` have the lines of `text`, with everything else blanked.
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) code: String,
    pub(crate) comments: String,
    /// For each line, whether it is test code.
    tests: Vec<bool>,
}

impl Source {
    pub(crate) fn new(path: &str, text: &str) -> Self {
        let (code, comments) = if has_extension(path, "rs") { split(text) } else { (text.to_owned(), String::new()) };
        let whole = path.ends_with("/tests.rs") || path.split('/').any(|part| part == "tests");
        let tests = if whole { vec![true; text.lines().count()] } else { test_lines(&code) };
        Self { path: path.to_owned(), text: text.to_owned(), code, comments, tests }
    }

    pub(crate) fn is_test(&self, line: usize) -> bool {
        self.tests.get(line - 1).copied().unwrap_or(false)
    }

    pub(crate) fn line_at(&self, offset: usize) -> usize {
        line_at(&self.code, offset)
    }

    /// The room of the library that the file is in; none for `lib.rs` and for other crates.
    pub(crate) fn room(&self) -> Option<&str> {
        let rest = self.path.strip_prefix("src/")?;
        let room = rest.split('/').next()?;
        let room = room.strip_suffix(".rs").unwrap_or(room);
        (room != "lib").then_some(room)
    }

    pub(crate) fn fault(&self, line: usize, says: &str) -> String {
        format!("{}:{line}: {says}", self.path)
    }
}

fn line_at(text: &str, offset: usize) -> usize {
    text[..offset].matches('\n').count() + 1
}

fn has_extension(path: &str, extension: &str) -> bool {
    Path::new(path).extension().is_some_and(|found| found == extension)
}

/// The files below `dir` with this extension; an empty one means all.
pub(crate) fn read_tree(root: &Path, dir: &str, extension: &str) -> Vec<Source> {
    let Ok(entries) = fs::read_dir(root.join(dir)) else { return Vec::new() };
    let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort_unstable();
    let mut sources = Vec::new();
    for name in names.iter().filter(|name| *name != "target") {
        let path = format!("{dir}/{name}");
        if root.join(&path).is_dir() {
            sources.extend(read_tree(root, &path, extension));
        } else if extension.is_empty() || has_extension(&path, extension) {
            sources.extend(fs::read_to_string(root.join(&path)).ok().map(|text| Source::new(&path, &text)));
        }
    }
    sources
}

/// The text files that lie at the root.
pub(crate) fn read_top(root: &Path) -> Vec<Source> {
    let Ok(entries) = fs::read_dir(root) else { return Vec::new() };
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    names
        .filter(|name| has_extension(name, "md") || has_extension(name, "toml"))
        .filter_map(|name| Some(Source::new(&name, &fs::read_to_string(root.join(&name)).ok()?)))
        .collect()
}

/// Splits text into code and comments of the same length; literals are blank in both.
fn split(text: &str) -> (String, String) {
    let bytes = text.as_bytes();
    let mut code = bytes.to_vec();
    let mut comments: Vec<u8> = bytes.iter().map(|byte| if *byte == b'\n' { b'\n' } else { b' ' }).collect();
    let mut at = 0;
    while at < bytes.len() {
        let Some((end, is_comment)) = opaque_end(bytes, at) else {
            at += 1;
            continue;
        };
        for index in at..end {
            if is_comment {
                comments[index] = bytes[index];
            }
            if bytes[index] != b'\n' {
                code[index] = b' ';
            }
        }
        at = end;
    }
    let text_of = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (text_of(code), text_of(comments))
}

/// Where the comment or literal that begins at `at` ends, and whether it is a comment.
fn opaque_end(bytes: &[u8], at: usize) -> Option<(usize, bool)> {
    let rest = &bytes[at..];
    let starts_word = at == 0 || !is_word(bytes[at - 1]);
    match rest {
        [b'/', b'/', ..] => Some((at + find(rest, b"\n").unwrap_or(rest.len()), true)),
        [b'/', b'*', ..] => Some((at + block_comment(rest), true)),
        [b'"', ..] => Some((at + quoted(rest, 1, b'"'), false)),
        [b'r', b'"' | b'#', ..] if starts_word => raw_string(rest, 1).map(|len| (at + len, false)),
        [b'b', b'r', b'"' | b'#', ..] if starts_word => raw_string(rest, 2).map(|len| (at + len, false)),
        [b'\'', b'\\', ..] => Some((at + quoted(rest, 1, b'\''), false)),
        [b'\'', ..] => {
            // A quote within the next character's length ends a literal; else it begins a lifetime.
            let width = (1..=4).find(|width| rest.get(1 + width) == Some(&b'\''))?;
            (width == 1 || rest[1] >= 0x80).then_some((at + width + 2, false))
        }
        _ => None,
    }
}

fn is_word(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric()
}

fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes.windows(needle.len()).position(|window| window == needle)
}

fn block_comment(bytes: &[u8]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < bytes.len() {
        match &bytes[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

fn quoted(bytes: &[u8], mut at: usize, quote: u8) -> usize {
    while at < bytes.len() && bytes[at] != quote {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

fn raw_string(bytes: &[u8], prefix: usize) -> Option<usize> {
    let hashes = bytes[prefix..].iter().take_while(|byte| **byte == b'#').count();
    let open = prefix + hashes;
    if bytes.get(open) != Some(&b'"') {
        return None;
    }
    let close = [&b"\""[..], &b"#".repeat(hashes)].concat();
    Some(find(&bytes[open + 1..], &close).map_or(bytes.len(), |end| open + 1 + end + close.len()))
}

/// Marks the items under `#[cfg(test)]` and `#[test]`.
fn test_lines(code: &str) -> Vec<bool> {
    let mut tests = vec![false; code.lines().count()];
    for mark in ["#[cfg(test)]", "#[test]"] {
        for (offset, _) in code.match_indices(mark) {
            let end = item_end(code, offset + mark.len());
            tests[line_at(code, offset) - 1..line_at(code, end)].fill(true);
        }
    }
    tests
}

/// Where the item after `from` ends: at its `;` or its closing brace.
pub(crate) fn item_end(code: &str, from: usize) -> usize {
    match body_start(code, from) {
        Some(open) => block_end(code, open),
        None => code[from..].find(';').map_or(code.len() - 1, |semicolon| from + semicolon),
    }
}

/// The brace that opens the item's body; none where a `;` ends the item first.
pub(crate) fn body_start(code: &str, from: usize) -> Option<usize> {
    let mut depth = 0;
    for (index, byte) in code.bytes().enumerate().skip(from) {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            b'{' if depth == 0 => return Some(index),
            b';' if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// The brace that closes the one at `open`.
pub(crate) fn block_end(code: &str, open: usize) -> usize {
    let mut depth = 0;
    for (index, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 1 => return index,
            b'}' => depth -= 1,
            _ => {}
        }
    }
    code.len() - 1
}

/// Where `word` stands in `code` as a whole word.
pub(crate) fn words<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let bytes = code.as_bytes();
    let joined = |left: usize| bytes.get(left..left + 2).is_some_and(|pair| is_word(pair[0]) && is_word(pair[1]));
    code.match_indices(word)
        .map(|(at, _)| at)
        .filter(move |at| !at.checked_sub(1).is_some_and(joined) && !joined(at + word.len() - 1))
}

/// The identifier at the start of `text`.
pub(crate) fn identifier(text: &str) -> &str {
    let text = text.trim_start();
    &text[..text.bytes().take_while(|byte| is_word(*byte)).count()]
}
