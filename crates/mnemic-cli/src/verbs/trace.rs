//! `mnemic why trace-17`: which memories an answer used.

use mnemic::{Trace, TraceId, TracedHit};
use serde_json::{Value, json};

use crate::args::Global;
use crate::failure::{Outcome, Result};
use crate::output::{self, printable};

pub(crate) fn trace(global: &Global, id: TraceId) -> Result<Outcome> {
    let store = global.open()?;
    let user = global.handle(&store)?;
    let trace = user.trace(id)?;
    let texts: Vec<Option<String>> =
        trace.hits.iter().map(|hit| user.get(hit.id).ok().map(|memory| memory.text().to_owned())).collect();
    store.close()?;
    if global.json {
        output::json(&document(id, &trace, &texts))?;
    } else {
        print(id, &trace, &texts)?;
    }
    Ok(Outcome::of_count(trace.hits.len()))
}

fn document(id: TraceId, trace: &Trace, texts: &[Option<String>]) -> Value {
    let hits = trace.hits.iter().zip(texts).map(|(hit, text)| {
        json!({
            "id": hit.id.to_string(),
            "version": hit.version,
            "version_now": hit.version_now,
            "text_now": text,
            "score": hit.score,
            "cosine": hit.cosine,
            "words": hit.words,
            "scene": hit.scene,
            "time": hit.time_match,
            "speaker": hit.speaker,
            "context": hit.context,
            "relevance": hit.relevance,
            "retention": hit.retention,
            "weight": hit.weight,
        })
    });
    json!({
        "trace": id.to_string(),
        "at": trace.at.to_string(),
        "query_at": trace.query_at.to_string(),
        "as_of": trace.as_of.map(|at| at.to_string()),
        "context": trace.is_context,
        "limit": trace.limit,
        "filter": trace.filter,
        "hits": hits.collect::<Vec<_>>(),
        "forgotten": trace.forgotten,
    })
}

fn print(id: TraceId, trace: &Trace, texts: &[Option<String>]) -> Result<()> {
    let what = if trace.is_context { "prompt block" } else { "recall" };
    output::line(&format!("{id}: {what} of {}", trace.at))?;
    for (hit, text) in trace.hits.iter().zip(texts) {
        output::line(&format!("{:>7.3}  {}", hit.score, printable(text.as_deref().unwrap_or("(not there)"))))?;
        output::line(&format!("         id {}, {}", hit.id, standing(hit)))?;
        let parts =
            format!("relevance {:.3} x retention {:.3} x weight {:.3}", hit.relevance, hit.retention, hit.weight);
        output::line(&format!("         {parts}; cosine {:.3}, words {:.3}", hit.cosine, hit.words))?;
    }
    match trace.forgotten {
        0 => Ok(()),
        gone => output::line(&format!("{gone} more, forgotten since")),
    }
}

fn standing(hit: &TracedHit) -> String {
    match hit.version_now {
        None => format!("version {} then, not there now", hit.version),
        Some(now) if now == hit.version => format!("version {now}, unchanged"),
        Some(now) => format!("version {} then, {now} now", hit.version),
    }
}
