//! The small part of JSON that exports are written in: objects, lists, texts, numbers, true and false, in one form only.
//!
//! No white space, no null, numbers as they were written. A general library would be one more dependency of every
//! embedder, and would leave the one form to us all the same.

use std::fmt::Write;

use crate::error::{Error, Result};

/// Lists and objects in each other, at most.
const DEPTH_MAX: usize = 6;

/// A value. A number stays as it is written, so that 64-bit integers and floats come back exactly.
#[derive(Clone, PartialEq)]
pub(crate) enum Json {
    Text(String),
    Number(String),
    Bool(bool),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    pub(crate) fn text(text: &(impl ToString + ?Sized)) -> Self {
        Self::Text(text.to_string())
    }

    pub(crate) fn number(number: &impl ToString) -> Self {
        Self::Number(number.to_string())
    }

    /// The one form of this value.
    pub(crate) fn write(&self, out: &mut String) {
        match self {
            Self::Text(text) => write_text(text, out),
            Self::Number(number) => out.push_str(number),
            Self::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Self::List(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    separate(at, out);
                    item.write(out);
                }
                out.push(']');
            }
            Self::Object(fields) => {
                out.push('{');
                for (at, (name, value)) in fields.iter().enumerate() {
                    separate(at, out);
                    write_text(name, out);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }

    /// Reads a value that takes up all of `text`.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let mut parser = Parser { rest: text };
        let value = parser.value(0)?;
        if parser.rest.is_empty() { Ok(value) } else { Err(malformed()) }
    }
}

fn separate(at: usize, out: &mut String) {
    if at > 0 {
        out.push(',');
    }
}

fn write_text(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c < ' ' => _ = write!(out, "\\u{:04x}", u32::from(c)),
            c => out.push(c),
        }
    }
    out.push('"');
}

fn malformed() -> Error {
    Error::invalid("export: not JSON in the form of an export")
}

struct Parser<'a> {
    rest: &'a str,
}

impl Parser<'_> {
    fn take(&mut self, token: char) -> bool {
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn must(&mut self, token: char) -> Result<()> {
        if self.take(token) { Ok(()) } else { Err(malformed()) }
    }

    fn value(&mut self, depth: usize) -> Result<Json> {
        if depth > DEPTH_MAX {
            return Err(malformed());
        }
        match self.rest.chars().next() {
            Some('"') => self.text().map(Json::Text),
            Some('[') => self.list(depth),
            Some('{') => self.object(depth),
            Some('t' | 'f') => self.truth(),
            _ => self.number(),
        }
    }

    fn list(&mut self, depth: usize) -> Result<Json> {
        let mut items = Vec::new();
        self.must('[')?;
        while !self.take(']') {
            if !items.is_empty() {
                self.must(',')?;
            }
            items.push(self.value(depth + 1)?);
        }
        Ok(Json::List(items))
    }

    fn object(&mut self, depth: usize) -> Result<Json> {
        let mut fields = Vec::new();
        self.must('{')?;
        while !self.take('}') {
            if !fields.is_empty() {
                self.must(',')?;
            }
            let name = self.text()?;
            self.must(':')?;
            fields.push((name, self.value(depth + 1)?));
        }
        Ok(Json::Object(fields))
    }

    fn truth(&mut self) -> Result<Json> {
        for (word, value) in [("true", true), ("false", false)] {
            if let Some(rest) = self.rest.strip_prefix(word) {
                self.rest = rest;
                return Ok(Json::Bool(value));
            }
        }
        Err(malformed())
    }

    fn number(&mut self) -> Result<Json> {
        let is_part = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (number, rest) = self.rest.split_at(end);
        self.rest = rest;
        if number.is_empty() { Err(malformed()) } else { Ok(Json::Number(number.to_owned())) }
    }

    fn text(&mut self) -> Result<String> {
        self.must('"')?;
        let mut out = String::new();
        let mut chars = self.rest.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.rest = self.rest.get(at + 1..).ok_or_else(malformed)?;
                    return Ok(out);
                }
                '\\' => match chars.next() {
                    Some((_, escaped @ ('"' | '\\'))) => out.push(escaped),
                    Some((_, 'n')) => out.push('\n'),
                    Some((_, 'u')) => {
                        let digits: String = chars.by_ref().take(4).map(|(_, digit)| digit).collect();
                        let code = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
                        out.push(code.ok_or_else(malformed)?);
                    }
                    _ => return Err(malformed()),
                },
                c => out.push(c),
            }
        }
        Err(malformed())
    }
}
