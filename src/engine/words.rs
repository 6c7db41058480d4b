//! The words of a user's memories in memory, and the conversations that its turns make.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use crate::codec::terms;
use crate::engine::user_index::Attributes;
use crate::error::Result;
use crate::index::lexical::{Lexical, Standing, from_stored};
use crate::index::vector::Facts;
use crate::memory::{Sensitivity, StatusKind, Timestamp};
use crate::policy::relevance::TurnLayout;
use crate::text::TermList;
use crate::text::time::Interval;

/// Built when words are first searched, and kept up with every commit from then on.
#[derive(Default)]
pub(crate) struct Words {
    pub(crate) lexical: Lexical,
    told: BTreeMap<u32, Vec<Interval>>,
    sessions: BTreeMap<String, BTreeSet<(u32, u32)>>,
    /// Of the sessions, once somebody asked.
    layout: OnceLock<TurnLayout>,
    /// When each row happened or was made.
    instants: Vec<i64>,
    /// The rows of each speaker, ascending.
    speakers: BTreeMap<String, Vec<u32>>,
    /// Values that were damaged when it was built, by name.
    pub(crate) damaged: Vec<String>,
}

/// What a stored list of terms gives; `None` where another analyser made it.
pub(crate) fn parse(stored: &[u8]) -> Result<Option<(TermList, Vec<Interval>)>> {
    if stored.is_empty() {
        return Ok(Some((TermList::default(), Vec::new())));
    }
    Ok(from_stored(&terms::decode(stored)?))
}

/// Who may see a row, and whether statistics count it.
pub(crate) fn standing(facts: &Facts) -> Standing {
    let level = Sensitivity::from_code(facts.sensitivity).unwrap_or(Sensitivity::Secret);
    Standing { level, active: facts.status == StatusKind::Active.code() }
}

impl Words {
    pub(crate) fn insert(&mut self, facts: &Facts, list: &TermList, told: Vec<Interval>) {
        self.lexical.insert(facts.row, list, standing(facts));
        if told.is_empty() {
            self.told.remove(&facts.row);
        } else {
            self.told.insert(facts.row, told);
        }
    }

    pub(crate) fn remove(&mut self, row: u32) {
        self.lexical.remove(row);
        self.told.remove(&row);
    }

    pub(crate) fn set_standing(&mut self, facts: &Facts) {
        self.lexical.set_standing(facts.row, standing(facts));
    }

    /// The rows whose texts tell of times.
    pub(crate) fn told_rows(&self) -> impl Iterator<Item = (u32, &[Interval])> {
        self.told.iter().map(|(row, told)| (*row, told.as_slice()))
    }

    /// When each row happened or was made, by row number; rows that are not there count as well.
    pub(crate) fn instants(&self) -> &[i64] {
        &self.instants
    }

    /// Speakers with their rows.
    pub(crate) fn speakers(&self) -> impl Iterator<Item = (&str, &[u32])> {
        self.speakers.iter().map(|(speaker, rows)| (speaker.as_str(), rows.as_slice()))
    }

    /// A row takes its place: in time, with its speaker, in its conversation.
    pub(crate) fn join(&mut self, facts: &Facts, attributes: Option<&Attributes>) {
        let at = facts.row as usize;
        if self.instants.len() <= at {
            self.instants.resize(at + 1, i64::MIN);
        }
        let event = attributes.and_then(|a| a.event_at);
        self.instants[at] = event.map_or(facts.created_at, Timestamp::as_micros);
        if let Some(speaker) = attributes.and_then(|a| a.speaker.as_ref()) {
            let rows = self.speakers.entry(speaker.clone()).or_default();
            if let Err(place) = rows.binary_search(&facts.row) {
                rows.insert(place, facts.row);
            }
        }
        if let Some((session, place)) = place_of(facts, attributes) {
            self.sessions.entry(session.to_owned()).or_default().insert(place);
            self.layout.take();
        }
    }

    /// A row leaves its place.
    pub(crate) fn leave(&mut self, facts: &Facts, attributes: Option<&Attributes>) {
        if let Some(speaker) = attributes.and_then(|a| a.speaker.as_ref())
            && let Some(rows) = self.speakers.get_mut(speaker)
        {
            rows.retain(|row| *row != facts.row);
            if rows.is_empty() {
                self.speakers.remove(speaker);
            }
        }
        let Some((session, place)) = place_of(facts, attributes) else { return };
        self.layout.take();
        if let Some(turns) = self.sessions.get_mut(session) {
            turns.remove(&place);
            if turns.is_empty() {
                self.sessions.remove(session);
            }
        }
    }

    /// The turns by conversation, each in order.
    pub(crate) fn layout(&self) -> &TurnLayout {
        self.layout.get_or_init(|| {
            let mut layout = TurnLayout::default();
            for turns in self.sessions.values() {
                layout.push_session(turns.iter().map(|(_, row)| *row));
            }
            layout
        })
    }

    /// Whether there is any turn.
    pub(crate) fn has_turns(&self) -> bool {
        !self.sessions.is_empty()
    }

    /// Rough size in memory.
    pub(crate) fn bytes(&self) -> usize {
        let turns: usize = self.sessions.values().map(|turns| 64 + turns.len() * 12).sum();
        let speakers: usize = self.speakers.iter().map(|(name, rows)| 64 + name.len() + rows.capacity() * 4).sum();
        self.lexical.bytes() + self.told.len() * 64 + turns + speakers + self.instants.capacity() * 8
    }
}

fn place_of<'a>(facts: &Facts, attributes: Option<&'a Attributes>) -> Option<(&'a str, (u32, u32))> {
    let attributes = attributes.filter(|_| facts.turn)?;
    Some((attributes.session.as_deref()?, (attributes.seq, facts.row)))
}
