//! Stores a labelled set, asks its queries, measures the answers.

use std::collections::HashSet;
use std::path::Path;

use mnemic::memory::{NewMemory, Space};
use mnemic::{BuiltinEmbedder, Curve, ErrorKind, LegSwitches, Query, Store};

use crate::args::{EmbedderChoice, EvalArgs, Global, Legs};
use crate::eval::dataset::{Dataset, Embeddings};
use crate::eval::dated::names_date;
use crate::eval::metrics::{Measures, Scored, tokens};
use crate::eval::report::{Config, Report};
use crate::eval::sweep::{Variant, sweep};
use crate::failure::{Failure, Outcome, Result};
use crate::progress::Progress;
use crate::scratch::Scratch;

const BATCH: usize = 1000;
/// Hits that count as the answer.
const ANSWER: usize = 10;

pub(crate) fn run(global: &Global, args: &EvalArgs) -> Result<Outcome> {
    global.refuse("eval", &["--user", "--level"])?;
    let set = Dataset::read(&args.dir)?;
    let embeddings = match args.embedder {
        EmbedderChoice::Stored => Some(Embeddings::read(&args.dir, &set)?),
        EmbedderChoice::Builtin => None,
    };
    let scratch = Scratch::new("eval")?;
    let path = global.store.clone().unwrap_or_else(|| scratch.path().join("store"));
    let store = open(global, &path, embeddings.as_ref())?;
    load(&store, &set, embeddings.as_ref())?;
    let calibration = match store.calibrate() {
        Ok(calibration) => Some(calibration),
        Err(error) if error.kind() == ErrorKind::Unsupported => None,
        Err(error) => return Err(error.into()),
    };
    let asked = Asked { store: &store, set: &set, embeddings: embeddings.as_ref(), args };
    let scored = asked.all(&Variant::default())?;
    let swept = if args.sweep { sweep(&asked)? } else { Vec::new() };
    store.close()?;
    let config = Config::new(args, embeddings.as_ref().map(|found| found.model.as_str()), calibration, ANSWER);
    Report::new(&scored, config, swept).print(global.json)?;
    Ok(Outcome::Done)
}

/// A loaded set and how it is asked.
pub(crate) struct Asked<'a> {
    store: &'a Store,
    set: &'a Dataset,
    embeddings: Option<&'a Embeddings>,
    pub(crate) args: &'a EvalArgs,
}

fn open(global: &Global, path: &Path, embeddings: Option<&Embeddings>) -> Result<Store> {
    let builder = global.with_key(Store::builder(path))?;
    let builder = match embeddings {
        Some(found) => builder.space(Space::new(&found.model, found.memories.columns())?),
        None => builder.embedder(BuiltinEmbedder::new()),
    };
    Ok(builder.open()?)
}

fn load(store: &Store, set: &Dataset, embeddings: Option<&Embeddings>) -> Result<()> {
    let progress = Progress::new("storing", set.lines.len());
    for user in set.users() {
        let handle = store.user(user)?;
        let numbers: Vec<usize> = (0..set.lines.len()).filter(|number| set.lines[*number].conv == *user).collect();
        for batch in numbers.chunks(BATCH) {
            let memories = batch.iter().map(|number| memory(set, embeddings, *number)).collect::<Result<Vec<_>>>()?;
            for (outcome, number) in handle.remember_all(memories)?.into_iter().zip(batch) {
                outcome.map_err(|error| {
                    Failure::new(error.kind(), format!("memories.jsonl: line {}: {error}", number + 1))
                })?;
            }
            progress.add(batch.len());
        }
    }
    progress.finish();
    Ok(())
}

fn memory(set: &Dataset, embeddings: Option<&Embeddings>, number: usize) -> Result<NewMemory> {
    let memory = set.memory(number)?;
    Ok(match embeddings {
        Some(found) => memory.vector(found.memories.row(number)),
        None => memory,
    })
}

impl Asked<'_> {
    /// Every question, asked in one way.
    pub(crate) fn all(&self, variant: &Variant) -> Result<Vec<Scored>> {
        let progress = Progress::new("asking", self.set.questions.len());
        let mut scored = Vec::with_capacity(self.set.questions.len());
        for (number, question) in self.set.questions.iter().enumerate() {
            let hits = self.store.user(&question.conv)?.recall_ids(&self.query(variant, number)?)?;
            let lines: Vec<_> = hits.iter().filter_map(|hit| self.set.line_of(hit.id)).collect();
            let ranked: Vec<&str> = lines.iter().map(|line| line.id.as_str()).collect();
            let evidence: HashSet<&str> = question.evidence.iter().map(String::as_str).collect();
            let read: usize = lines.iter().take(ANSWER).map(|line| tokens(&line.content)).sum();
            scored.push(Scored {
                qid: question.qid.clone(),
                category: question.category.clone(),
                dated: names_date(&question.text),
                measures: Measures::of(&ranked, &evidence, read as f64),
            });
            progress.add(1);
        }
        progress.finish();
        Ok(scored)
    }

    /// Every memory is ranked, so that the reciprocal rank is exact.
    fn query(&self, variant: &Variant, number: usize) -> Result<Query> {
        let text = Query::text(&self.set.questions[number].text);
        let query = match (self.args.legs, self.embeddings) {
            (Legs::Dense, Some(found)) => Query::vector(found.queries.row(number)).raw_cosine(),
            (Legs::Dense, None) => text.legs(LegSwitches::DENSE).raw_cosine(),
            (Legs::Lexical, _) => text.legs(LegSwitches::WORDS),
            (Legs::Hybrid, Some(found)) => text.with_vector(found.queries.row(number)),
            (Legs::Hybrid, None) => text,
        };
        let query = query.at(self.set.now(number)?).limit(self.set.lines.len());
        let query = if self.args.no_decay { query.curve(Curve::None) } else { query };
        Ok(variant.apply(query))
    }
}
