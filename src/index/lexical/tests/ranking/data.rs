//! The labelled sets, where they are there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::Value;

use crate::index::lexical::{Lexical, Standing};
use crate::memory::{Sensitivity, Timestamp};
use crate::policy::relevance::TurnLayout;
use crate::text::time::{Interval, TimeExpression, question_times, time_expressions};
use crate::text::{QueryWords, TermList};
use crate::world::{World, read_to_vec};

const FILE_BYTES_MAX: usize = 64 << 20;
const DIMS: usize = 384;

pub(super) struct Memory {
    pub(super) id: String,
    session: String,
    pub(super) seq: u64,
    pub(super) speaker: String,
    pub(super) content: String,
    pub(super) time: i64,
    /// The times that the text tells of.
    pub(super) told: Vec<Interval>,
    vector: Vec<f32>,
    pub(super) is_turn: bool,
}

pub(super) struct Question {
    pub(super) id: String,
    pub(super) text: String,
    pub(super) words: QueryWords,
    pub(super) now: i64,
    pub(super) evidence: BTreeSet<String>,
    /// Calibrated, by row.
    pub(super) dense: Vec<f64>,
    pub(super) times: Vec<TimeExpression>,
    /// By row, whether the question names the speaker.
    pub(super) speaker: Vec<bool>,
}

/// One user's store.
pub(super) struct Conversation {
    pub(super) memories: Vec<Memory>,
    pub(super) questions: Vec<Question>,
    pub(super) layout: TurnLayout,
    pub(super) lexical: Lexical,
}

pub(super) struct Set {
    pub(super) name: &'static str,
    pub(super) conversations: Vec<Conversation>,
}

/// Every set, or `None` where the data is absent.
pub(super) fn load() -> Option<Vec<Set>> {
    let noise = memories("memorybank_zh", "e5small")?;
    let noise: Vec<_> = noise.into_iter().filter(|(_, memory)| memory.speaker != "AI").collect();
    Some(vec![
        load_set("locomo", "locomo", "minilm", (0.05, 0.73), &[])?,
        load_set("realtalk", "realtalk", "minilm", (0.05, 0.73), &[])?,
        load_set("memorybank_zh", "memorybank_zh", "e5small", (0.82, 0.97), &[])?,
        load_set("memdaily_zh", "memdaily_zh", "e5small", (0.82, 0.97), &[])?,
        load_set("memdaily_zh+noise", "memdaily_zh", "e5small", (0.82, 0.97), &noise)?,
    ])
}

type Rows = Vec<(String, Memory)>;

fn load_set(name: &'static str, dir: &str, model: &str, scale: (f64, f64), noise: &[(String, Memory)]) -> Option<Set> {
    let mut users: BTreeMap<String, Vec<Memory>> = BTreeMap::new();
    for (user, memory) in memories(dir, model)? {
        users.entry(user).or_default().push(memory);
    }
    let mut conversations: BTreeMap<String, Conversation> = BTreeMap::new();
    for (user, mut memories) in users {
        memories.extend(noise.iter().map(|(from, memory)| noisy(from, memory)));
        conversations.insert(user, conversation(memories));
    }
    let vectors = vectors(dir, "queries", model)?;
    for (line, vector) in lines(dir, "queries")?.iter().zip(vectors) {
        let conversation = conversations.get_mut(&text(line, "conv"))?;
        let question = question(line, &vector, scale, &conversation.memories);
        conversation.questions.push(question);
    }
    Some(Set { name, conversations: conversations.into_values().collect() })
}

fn noisy(from: &str, memory: &Memory) -> Memory {
    Memory {
        id: memory.id.clone(),
        session: format!("noise-{from}-{}", memory.session),
        seq: memory.seq,
        speaker: memory.speaker.clone(),
        content: memory.content.clone(),
        time: memory.time,
        told: memory.told.clone(),
        vector: memory.vector.clone(),
        is_turn: false,
    }
}

fn conversation(mut memories: Vec<Memory>) -> Conversation {
    let mut sessions: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (row, memory) in memories.iter().enumerate() {
        sessions.entry(memory.session.clone()).or_default().push(row);
    }
    let mut layout = TurnLayout::default();
    for rows in sessions.values_mut() {
        rows.sort_by_key(|row| memories[*row].seq);
        let speakers: BTreeSet<_> = rows.iter().map(|row| &memories[*row].speaker).collect();
        if speakers.len() > 1 {
            layout.push_session(rows.iter().map(|row| *row as u32));
            rows.iter().for_each(|row| memories[*row].is_turn = true);
        }
    }
    let mut lexical = Lexical::default();
    for (row, memory) in memories.iter().enumerate() {
        let standing = Standing { level: Sensitivity::Personal, active: true };
        lexical.insert(row as u32, &TermList::of(&memory.content), standing);
    }
    Conversation { memories, questions: Vec::new(), layout, lexical }
}

fn question(line: &Value, vector: &[f32], (lo, hi): (f64, f64), memories: &[Memory]) -> Question {
    let words = QueryWords::of(&text(line, "question"));
    let dot = |m: &Memory| m.vector.iter().zip(vector).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
    let evidence = line["evidence"].as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect();
    let mut named = BTreeMap::new();
    let speaker =
        memories.iter().map(|m| *named.entry(&m.speaker).or_insert_with(|| words.mentions(&m.speaker))).collect();
    Question {
        id: text(line, "qid"),
        text: text(line, "question"),
        words,
        now: micros(&text(line, "now")),
        evidence,
        times: question_times(&text(line, "question"), micros(&text(line, "now"))),
        dense: memories.iter().map(|m| (dot(m) - lo) / (hi - lo)).collect(),
        speaker,
    }
}

fn memories(dir: &str, model: &str) -> Option<Rows> {
    let vectors = vectors(dir, "memories", model)?;
    let rows = lines(dir, "memories")?.into_iter().zip(vectors).map(|(line, vector)| {
        let memory = Memory {
            id: text(&line, "id"),
            session: text(&line, "session"),
            seq: line["seq"].as_u64().unwrap(),
            speaker: text(&line, "speaker"),
            content: text(&line, "content"),
            time: micros(&text(&line, "time")),
            told: told(&text(&line, "content"), micros(&text(&line, "time"))),
            vector,
            is_turn: false,
        };
        (text(&line, "conv"), memory)
    });
    Some(rows.collect())
}

fn told(content: &str, time: i64) -> Vec<Interval> {
    time_expressions(content, time).into_iter().map(|expression| expression.interval).collect()
}

fn text(line: &Value, field: &str) -> String {
    line[field].as_str().unwrap().to_owned()
}

fn micros(time: &str) -> i64 {
    time.parse::<Timestamp>().unwrap().as_micros()
}

fn read(dir: &str, file: &str) -> Option<Vec<u8>> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data").join(dir).join(file);
    read_to_vec(World::system().fs(), &path, FILE_BYTES_MAX).ok().flatten()
}

fn lines(dir: &str, name: &str) -> Option<Vec<Value>> {
    let bytes = read(dir, &format!("{name}.jsonl"))?;
    let lines = bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty());
    Some(lines.map(|line| serde_json::from_slice(line).unwrap()).collect())
}

/// The rows of a float16 array file, scaled to unit length.
fn vectors(dir: &str, name: &str, model: &str) -> Option<Vec<Vec<f32>>> {
    let bytes = read(dir, &format!("{name}.{model}.f16.npy"))?;
    let header = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let halves = bytes[10 + header..].chunks_exact(2).map(|b| half(u16::from_le_bytes([b[0], b[1]])));
    let numbers: Vec<f32> = halves.collect();
    Some(numbers.chunks_exact(DIMS).map(unit).collect())
}

fn unit(row: &[f32]) -> Vec<f32> {
    let length = row.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
    row.iter().map(|x| (f64::from(*x) / length) as f32).collect()
}

/// A float16; neither infinite nor NaN.
fn half(bits: u16) -> f32 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f32::from(bits & 0x3ff));
    if exponent == 0 {
        sign * fraction * 2f32.powi(-24)
    } else {
        sign * (fraction / 1024.0 + 1.0) * 2f32.powi(exponent - 15)
    }
}
