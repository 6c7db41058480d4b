//! Stdout: one JSON document, or lines and tables for people.

use std::io::Write;

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table};
use serde::Serialize;

use crate::failure::Result;

/// No table is made narrower.
const NARROWEST: u16 = 40;

/// On which side the cells of a column stand.
#[derive(Clone, Copy)]
pub(crate) enum Align {
    Left,
    Right,
}

/// Prints one line.
pub(crate) fn line(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.write_all(b"\n")?)
}

/// Prints one JSON document.
pub(crate) fn json(document: &impl Serialize) -> Result<()> {
    line(&serde_json::to_string_pretty(document)?)
}

/// Prints one JSON document on one line.
pub(crate) fn json_line(document: &impl Serialize) -> Result<()> {
    line(&serde_json::to_string(document)?)
}

/// Prints a document for programs or a line for people.
pub(crate) fn answer(as_json: bool, document: &impl Serialize, text: &str) -> Result<()> {
    if as_json { json(document) } else { line(text) }
}

/// Prints a table: in the width of a terminal, else a row on each line.
pub(crate) fn table(heads: &[&str], aligned: &[Align], rows: Vec<Vec<String>>) -> Result<()> {
    let mut table = Table::new();
    table.load_preset(comfy_table::presets::NOTHING);
    table.set_header(heads).add_rows(rows);
    if let Some((_, columns)) = console::Term::stdout().size_checked() {
        let width = columns.max(NARROWEST);
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
        keep_whole(&mut table, width);
    }
    for (column, align) in table.column_iter_mut().zip(aligned) {
        column.set_cell_alignment(match align {
            Align::Left => CellAlignment::Left,
            Align::Right => CellAlignment::Right,
        });
    }
    line(&table.trim_fmt())
}

/// The first column is what people copy, such as an id: it is not broken where most of the width is left to others.
fn keep_whole(table: &mut Table, width: u16) {
    let longest = table.column_max_content_widths().first().copied().unwrap_or_default();
    if let Some(first) = table.column_mut(0).filter(|_| longest <= width / 2) {
        first.set_constraint(ColumnConstraint::ContentWidth);
    }
}

/// Stored text without what a terminal would obey: control characters, turns of the writing direction, line ends.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|c| if steers(c) { ' ' } else { c }).collect()
}

fn steers(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}')
}
