use console::style;
use mnemic::{ContextOptions, Curve, Filter, Hit, Omission, Query, Recall, WhyNot};
use serde_json::{Value, json};

use crate::access::memory_id;
use crate::args::{ContextArgs, Global, QueryFields, RecallArgs, WhyArgs};
use crate::diagnostics::say;
use crate::failure::{Failure, Outcome, Result};
use crate::output::{self, printable};
use crate::record::Record;

pub(crate) fn recall(global: &Global, args: &RecallArgs) -> Result<Outcome> {
    let query = query(&args.query, &args.fields);
    let store = global.open()?;
    let found = global.handle(&store)?.recall(&query)?;
    store.close()?;
    for name in found.damaged() {
        say(&format!("warning: damaged and not searched: {name}"));
    }
    let printed = if global.json { output::json(&document(&found, args.explain)) } else { print(&found, args.explain) };
    printed?;
    Ok(Outcome::of_count(found.len()))
}

pub(crate) fn why(global: &Global, args: &WhyArgs) -> Result<Outcome> {
    let Some(text) = &args.query else {
        let id =
            args.id.parse().map_err(|_| Failure::usage("why: a memory needs the question too; a trace is trace-N"))?;
        return super::trace::trace(global, id);
    };
    let id = memory_id(&args.id)?;
    let query = query(text, &args.fields);
    let store = global.open()?;
    let why = global.handle(&store)?.why_not(id, &query)?;
    store.close()?;
    let document = json!({"id": args.id, "hit": matches!(why, WhyNot::Hit { .. }), "why": why.to_string()});
    output::answer(global.json, &document, &why.to_string())?;
    Ok(Outcome::of_count(usize::from(why != WhyNot::NotStored)))
}

pub(crate) fn context(global: &Global, args: &ContextArgs) -> Result<Outcome> {
    let query = query(&args.query, &args.fields);
    let store = global.open()?;
    let block = global.handle(&store)?.context(&query, &ContextOptions::new(args.budget))?;
    store.close()?;
    let used: Vec<Value> =
        block.used().iter().map(|(id, handle)| json!({"id": id.to_string(), "handle": handle})).collect();
    let left_out: Vec<Value> =
        block.left_out().iter().map(|(id, why)| json!({"id": id.to_string(), "why": omission(*why)})).collect();
    let document = json!({"text": block.text(), "tokens": block.tokens(), "used": used, "left_out": left_out,
        "trace": block.trace().map(|trace| trace.to_string())});
    if global.json || !block.text().is_empty() {
        output::answer(global.json, &document, block.text())?;
    } else if block.left_out().is_empty() {
        say("nothing found: the block is empty");
    } else {
        say(&format!("nothing fits into {} tokens: the block is empty", args.budget));
    }
    Ok(Outcome::of_count(block.used().len()))
}

fn omission(why: Omission) -> &'static str {
    match why {
        Omission::Budget => "budget",
        Omission::Shortened => "shortened",
        Omission::Duplicate(_) => "duplicate",
        Omission::Withheld => "withheld",
        _ => "other",
    }
}

fn query(text: &str, fields: &QueryFields) -> Query {
    let mut query = Query::text(text).limit(fields.limit);
    query = fields.min_score.into_iter().fold(query, Query::min_score);
    query = fields.at.into_iter().fold(query, Query::at);
    query = fields.as_of.into_iter().fold(query, Query::as_of);
    query = query.trace(fields.trace);
    query = fields.floor.into_iter().fold(query, Query::floor);
    query = curve(fields).into_iter().fold(query, Query::curve);
    filter(fields).into_iter().fold(query, Query::filter)
}

fn curve(fields: &QueryFields) -> Option<Curve> {
    if fields.no_decay {
        return Some(Curve::None);
    }
    let half_life = fields.half_life.map(|days| Curve::HalfLife { days });
    half_life.or(fields.lambda.map(|lambda| Curve::Exponential { lambda }))
}

fn filter(fields: &QueryFields) -> Option<Filter> {
    let mut parts: Vec<Filter> = fields.tag.iter().map(Filter::tag).collect();
    parts.extend(fields.kind.map(Filter::kind));
    parts.extend(fields.speaker.iter().map(Filter::speaker));
    parts.extend(fields.scene.iter().map(Filter::scene));
    (!parts.is_empty()).then(|| Filter::all_of(parts))
}

fn print(found: &Recall, explain: bool) -> Result<()> {
    if let Some(reason) = found.reason() {
        return output::line(&format!("nothing found: {reason}"));
    }
    for hit in found {
        let memory = hit.memory();
        let score = style(format!("{:>7.3}", hit.score())).yellow();
        output::line(&format!("{score}  {}", printable(memory.text())))?;
        let days = hit.explain().age_days();
        let about = format!("{}, {days:.0} days old, id {}", memory.kind(), memory.id());
        output::line(&format!("         {}", style(about).dim()))?;
        if explain {
            hit.explain().to_string().lines().try_for_each(|line| output::line(&format!("         {line}")))?;
        }
    }
    if let Some(trace) = found.trace() {
        output::line(&format!("kept as {trace}"))?;
    }
    Ok(())
}

fn document(found: &Recall, explain: bool) -> Value {
    json!({
        "hits": found.iter().map(|hit| hit_document(hit, explain)).collect::<Vec<_>>(),
        "reason": found.reason().map(|reason| reason.to_string()),
        "damaged": found.damaged(),
        "scanned_rows": found.scanned_rows(),
        "total_rows": found.total_rows(),
        "trace": found.trace().map(|trace| trace.to_string()),
    })
}

fn hit_document(hit: &Hit, explain: bool) -> Value {
    let parts = hit.explain();
    json!({
        "score": hit.score(),
        "cosine": parts.cosine(),
        "relevance": parts.relevance(),
        "retention": parts.retention(),
        "weight": parts.weight(),
        "age_days": parts.age_days(),
        "at": parts.at().to_string(),
        "calibration_version": parts.calibration().version(),
        "verified": hit.verify(),
        "explanation": explain.then(|| parts.to_string()),
        "memory": Record::of(hit.memory()),
    })
}
