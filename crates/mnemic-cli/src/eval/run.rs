//! Stores a labelled set, asks its queries, measures the answers.

use std::collections::HashSet;
use std::path::Path;

use mnemic::memory::{NewMemory, Space};
use mnemic::{BuiltinEmbedder, Curve, ErrorKind, LegSwitches, Query, Store};

use crate::args::{EmbedderChoice, EvalArgs, Global, Legs};
use crate::eval::dataset::{Dataset, Embeddings};
use crate::eval::metrics::{Measures, tokens};
use crate::eval::report::{Config, Report};
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
    let scored = ask_all(&store, &set, embeddings.as_ref(), args)?;
    store.close()?;
    let config = Config::new(args, embeddings.as_ref().map(|found| found.model.as_str()), calibration, ANSWER);
    Report::new(&scored, config).print(global.json)?;
    Ok(Outcome::Done)
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

fn ask_all(
    store: &Store,
    set: &Dataset,
    embeddings: Option<&Embeddings>,
    args: &EvalArgs,
) -> Result<Vec<(String, Measures)>> {
    let progress = Progress::new("asking", set.questions.len());
    let mut scored = Vec::with_capacity(set.questions.len());
    for (number, question) in set.questions.iter().enumerate() {
        let hits = store.user(&question.conv)?.recall_ids(&query(set, embeddings, args, number)?)?;
        let lines: Vec<_> = hits.iter().filter_map(|hit| set.line_of(hit.id)).collect();
        let ranked: Vec<&str> = lines.iter().map(|line| line.id.as_str()).collect();
        let evidence: HashSet<&str> = question.evidence.iter().map(String::as_str).collect();
        let read: usize = lines.iter().take(ANSWER).map(|line| tokens(&line.content)).sum();
        scored.push((question.category.clone(), Measures::of(&ranked, &evidence, read as f64)));
        progress.add(1);
    }
    progress.finish();
    Ok(scored)
}

/// Every memory is ranked, so that the reciprocal rank is exact.
fn query(set: &Dataset, embeddings: Option<&Embeddings>, args: &EvalArgs, number: usize) -> Result<Query> {
    let text = Query::text(&set.questions[number].text);
    let query = match (args.legs, embeddings) {
        (Legs::Dense, Some(found)) => Query::vector(found.queries.row(number)).raw_cosine(),
        (Legs::Dense, None) => text.legs(LegSwitches::DENSE).raw_cosine(),
        (Legs::Lexical, _) => text.legs(LegSwitches::WORDS),
        (Legs::Hybrid, Some(found)) => text.with_vector(found.queries.row(number)),
        (Legs::Hybrid, None) => text,
    };
    let query = query.at(set.now(number)?).limit(set.lines.len());
    Ok(if args.no_decay { query.curve(Curve::None) } else { query })
}
