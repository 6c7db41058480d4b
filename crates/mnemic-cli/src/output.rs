//! Stdout: one JSON document, or lines and tables for people.

use std::io::Write;

use comfy_table::{CellAlignment, ContentArrangement, Table};
use serde::Serialize;

use crate::failure::Result;

/// Widest table where stdout is no terminal.
const WIDTH: u16 = 100;

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

/// Prints a table.
pub(crate) fn table(heads: &[&str], aligned: &[Align], rows: Vec<Vec<String>>) -> Result<()> {
    let mut table = Table::new();
    table.load_preset(comfy_table::presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width());
    table.set_header(heads).add_rows(rows);
    for (column, align) in table.column_iter_mut().zip(aligned) {
        column.set_cell_alignment(match align {
            Align::Left => CellAlignment::Left,
            Align::Right => CellAlignment::Right,
        });
    }
    line(&table.trim_fmt())
}

/// Columns of the terminal.
fn width() -> u16 {
    console::Term::stdout().size_checked().map_or(WIDTH, |(_, columns)| columns.max(40))
}

/// Stored text without what a terminal would obey.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
