//! Memories into a prompt block.

use crate::engine::remember::text_to_embed;
use crate::memory::{Memory, MemoryId, Timestamp, Visibility};
use crate::policy::context::{Candidate, Line, Omission, Room, choose};
use crate::text::render::{Entry, block, handles, length, one_line};
use crate::text::{Language, Likeness, estimate_tokens, language_of};

/// A memory that may go in. Its sensitivity was checked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Item<'a> {
    pub(crate) memory: &'a Memory,
    /// Goes in before what was found, as every pinned one does.
    pub(crate) core: bool,
    pub(crate) score: f64,
    /// Something speaks against it.
    pub(crate) conflict: bool,
}

/// How a block is to be made.
pub(crate) struct Layout<'a> {
    /// The most tokens of the whole block.
    pub(crate) budget: usize,
    pub(crate) now: Timestamp,
    /// Of the frame and the labels. `None`: Chinese where most memories are, else English.
    pub(crate) language: Option<Language>,
    /// The tokens of a text. `None`: an estimate.
    pub(crate) tokens: Option<&'a dyn Fn(&str) -> usize>,
    /// How much of what the first item says the second repeats, 0 to 1; 0.7 makes it a duplicate. `None`: by the terms
    /// that they share.
    pub(crate) likeness: Option<&'a dyn Fn(usize, usize) -> f64>,
}

/// A block for a prompt, within its budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block {
    /// Empty where nothing fits.
    pub(crate) text: String,
    /// By the budget's measure; 0 for an empty block.
    pub(crate) tokens: usize,
    /// The memories in it, in order, each with the handle that its line begins with.
    pub(crate) used: Vec<(MemoryId, String)>,
    /// What is not in it as it is stored, in the order of the items.
    pub(crate) left_out: Vec<(MemoryId, Omission)>,
}

/// Chooses, orders and renders. The same items give the same block.
///
/// Cost: that of [`choose`], and one analysis of each text.
pub(crate) fn pack(items: &[Item<'_>], layout: &Layout<'_>) -> Block {
    let page = Page::new(items, layout);
    let candidates: Vec<Candidate> = items.iter().zip(&page.texts).map(|(item, text)| candidate(item, text)).collect();
    let room = Room {
        budget: layout.budget,
        likeness: &|a, b| layout.likeness.map_or_else(|| page.terms[a].with(&page.terms[b]), |likeness| likeness(a, b)),
        tokens: &|lines| page.tokens(lines),
    };
    let choice = choose(&candidates, &room);
    Block {
        text: page.render(&choice.lines),
        tokens: page.tokens(&choice.lines),
        used: choice.lines.iter().map(|line| page.name(line.candidate)).collect(),
        left_out: choice.left_out.iter().map(|(at, why)| (items[*at].memory.id, *why)).collect(),
    }
}

fn instant(memory: &Memory) -> Timestamp {
    memory.event_at.unwrap_or(memory.created_at)
}

fn candidate(item: &Item<'_>, text: &str) -> Candidate {
    Candidate {
        id: item.memory.id,
        core: item.core || item.memory.pinned,
        visibility: item.memory.visibility,
        score: item.score,
        at: instant(item.memory),
        conflict: item.conflict,
        length: length(text),
    }
}

/// Everything that lines are made of.
struct Page<'a> {
    items: &'a [Item<'a>],
    layout: &'a Layout<'a>,
    language: Language,
    texts: Vec<String>,
    terms: Vec<Likeness>,
    handles: Vec<String>,
    /// The lines of uncut memories.
    whole: Vec<String>,
}

impl<'a> Page<'a> {
    fn new(items: &'a [Item<'a>], layout: &'a Layout<'a>) -> Self {
        let texts: Vec<String> = items.iter().map(|item| one_line(&text_to_embed(item.memory))).collect();
        let ids: Vec<[u8; 16]> = items.iter().map(|item| *item.memory.id.as_bytes()).collect();
        let mut page = Self {
            items,
            layout,
            language: layout.language.unwrap_or_else(|| language_of_most(items)),
            terms: texts.iter().map(|text| Likeness::of(text)).collect(),
            texts,
            handles: handles(&ids),
            whole: Vec::new(),
        };
        page.whole = (0..items.len()).map(|at| page.line(at, None)).collect();
        page
    }

    fn line(&self, at: usize, keep: Option<usize>) -> String {
        let Item { memory, conflict, .. } = self.items[at];
        let entry = Entry {
            handle: &self.handles[at],
            text: &self.texts[at],
            kind: memory.kind,
            status: memory.status.kind(),
            quotable: memory.visibility == Visibility::Quote,
            conflict,
            at: instant(memory),
        };
        entry.line(self.language, self.layout.now, keep)
    }

    fn render(&self, lines: &[Line]) -> String {
        let cut: Vec<Option<String>> =
            lines.iter().map(|line| line.keep.map(|_| self.line(line.candidate, line.keep))).collect();
        let whole = |line: &Line| self.whole[line.candidate].as_str();
        block(lines.iter().zip(&cut).map(|(line, cut)| cut.as_deref().unwrap_or(whole(line))), self.language)
    }

    fn tokens(&self, lines: &[Line]) -> usize {
        match self.layout.tokens {
            _ if lines.is_empty() => 0,
            Some(tokens) => tokens(&self.render(lines)),
            None => estimate_tokens(&self.render(lines)),
        }
    }

    fn name(&self, at: usize) -> (MemoryId, String) {
        (self.items[at].memory.id, self.handles[at].clone())
    }
}

fn language_of_most(items: &[Item<'_>]) -> Language {
    let shown = || items.iter().filter(|item| item.memory.visibility != Visibility::Withhold);
    let chinese = shown().filter(|item| language_of(item.memory.text()) == Language::Chinese).count();
    if chinese * 2 > shown().count() { Language::Chinese } else { Language::English }
}

#[cfg(test)]
mod tests;
