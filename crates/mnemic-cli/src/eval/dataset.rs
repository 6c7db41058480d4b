//! A labelled set on disk: memories, queries and the embeddings beside them.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use mnemic::memory::{MemoryId, NewMemory, Timestamp};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::eval::npy::Matrix;
use crate::failure::{Failure, Result};

/// One memory of the set.
#[derive(Deserialize)]
pub(crate) struct Line {
    pub(crate) id: String,
    pub(crate) conv: String,
    session: Option<String>,
    #[serde(default)]
    seq: u32,
    speaker: Option<String>,
    time: String,
    pub(crate) content: String,
}

/// One query of the set.
#[derive(Deserialize)]
pub(crate) struct Question {
    pub(crate) qid: String,
    pub(crate) conv: String,
    #[serde(rename = "question")]
    pub(crate) text: String,
    pub(crate) category: String,
    pub(crate) evidence: Vec<String>,
    now: String,
}

/// The stored embeddings of a set, row by line.
pub(crate) struct Embeddings {
    pub(crate) model: String,
    pub(crate) memories: Matrix,
    pub(crate) queries: Matrix,
}

/// A labelled set.
pub(crate) struct Dataset {
    pub(crate) lines: Vec<Line>,
    pub(crate) questions: Vec<Question>,
    conversations: HashSet<(usize, String)>,
    order: Vec<String>,
}

impl Dataset {
    pub(crate) fn read(dir: &Path) -> Result<Self> {
        let lines: Vec<Line> = read_lines(&dir.join("memories.jsonl"))?;
        let questions: Vec<Question> = read_lines(&dir.join("queries.jsonl"))?;
        if let Some(question) = questions.iter().find(|question| question.evidence.is_empty()) {
            return Err(Failure::usage(format!("queries.jsonl: {} names no evidence", question.qid)));
        }
        let order = in_order(&lines);
        let conversations = conversations(&lines, &order);
        Ok(Self { lines, questions, conversations, order })
    }

    /// The users, in the order in which they appear.
    pub(crate) fn users(&self) -> &[String] {
        &self.order
    }

    /// The memory of a line, without its vector. Ids rise with the lines, so that ties fall to the earlier memory.
    pub(crate) fn memory(&self, number: usize) -> Result<NewMemory> {
        let line = &self.lines[number];
        let created: Timestamp = parse_time("memories.jsonl", number, &line.time)?;
        let memory = match &line.session {
            Some(session) if self.is_conversation(line) => {
                let memory = NewMemory::episode(&line.content).turn(session, line.seq);
                line.speaker.iter().fold(memory, NewMemory::speaker)
            }
            _ => NewMemory::note(&line.content),
        };
        Ok(memory.id(id_of(number, &line.id)).created_at(created))
    }

    pub(crate) fn now(&self, number: usize) -> Result<Timestamp> {
        parse_time("queries.jsonl", number, &self.questions[number].now)
    }

    /// The line that an id was made of.
    pub(crate) fn line_of(&self, id: MemoryId) -> Option<&Line> {
        let number = u128::from_be_bytes(*id.as_bytes()) >> 64;
        self.lines.get(usize::try_from(number).ok()?)
    }

    fn is_conversation(&self, line: &Line) -> bool {
        let Some(session) = &line.session else { return false };
        let user = self.order.iter().position(|user| *user == line.conv);
        user.is_some_and(|user| self.conversations.contains(&(user, session.clone())))
    }
}

impl Embeddings {
    /// The embeddings beside the set: `memories.MODEL.f16.npy` and `queries.MODEL.f16.npy`.
    pub(crate) fn read(dir: &Path, set: &Dataset) -> Result<Self> {
        let path = find_embeddings(dir)?;
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let rest = name.strip_prefix("memories.").unwrap_or_default();
        let model = rest.split('.').next().unwrap_or_default().to_owned();
        let memories = Matrix::read(&path)?;
        let queries = Matrix::read(&dir.join(format!("queries.{rest}")))?;
        if (memories.rows(), queries.rows()) != (set.lines.len(), set.questions.len()) {
            return Err(Failure::usage(format!("{}: rows and lines differ in number", dir.display())));
        }
        if memories.columns() != queries.columns() {
            return Err(Failure::usage(format!("{}: memories and queries differ in columns", dir.display())));
        }
        Ok(Self { model, memories, queries })
    }
}

fn find_embeddings(dir: &Path) -> Result<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(|error| Failure::file(dir, &error))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with("memories.") && path.extension().is_some_and(|extension| extension == "npy") {
            found.push(path);
        }
    }
    found.sort();
    found
        .into_iter()
        .next()
        .ok_or_else(|| Failure::usage(format!("{}: no memories.MODEL.f16.npy; try --embedder builtin", dir.display())))
}

fn read_lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    let text = std::fs::read_to_string(path).map_err(|error| Failure::file(path, &error))?;
    let parse = |(number, line): (usize, &str)| {
        serde_json::from_str(line)
            .map_err(|error| Failure::usage(format!("{}: line {}: {error}", path.display(), number + 1)))
    };
    text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(parse).collect()
}

fn parse_time(file: &str, number: usize, text: &str) -> Result<Timestamp> {
    text.parse().map_err(|error| Failure::usage(format!("{file}: line {}: {error}", number + 1)))
}

fn in_order(lines: &[Line]) -> Vec<String> {
    let mut seen = HashSet::new();
    lines.iter().filter(|line| seen.insert(&line.conv)).map(|line| line.conv.clone()).collect()
}

/// The sessions in which two or more speak.
fn conversations(lines: &[Line], order: &[String]) -> HashSet<(usize, String)> {
    let numbers: HashMap<&str, usize> = order.iter().enumerate().map(|(i, user)| (user.as_str(), i)).collect();
    let mut speakers: HashMap<(usize, String), HashSet<&str>> = HashMap::new();
    for line in lines {
        if let (Some(session), Some(speaker)) = (&line.session, &line.speaker) {
            speakers.entry((numbers[line.conv.as_str()], session.clone())).or_default().insert(speaker);
        }
    }
    speakers.into_iter().filter(|(_, speakers)| speakers.len() >= 2).map(|(session, _)| session).collect()
}

/// The line's number above, a hash of its name below.
fn id_of(number: usize, name: &str) -> MemoryId {
    let hash = name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    MemoryId::from_u128((number as u128) << 64 | u128::from(hash))
}
