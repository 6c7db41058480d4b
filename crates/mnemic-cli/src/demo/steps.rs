//! What the demonstration shows, one function each.

use console::style;
use mnemic::memory::MemoryId;
use mnemic::{Correction, Curve, Hit, Recall};
use serde_json::{Value, json};

use crate::demo::cast::{HOME, JAZZ, LUNCH};
use crate::demo::page::{Step, asked, hit_facts, hit_line, padded};
use crate::demo::scene::{Actor, Scene};
use crate::failure::Result;

const SEAT: &str = "Which seat on the train should I book?";
const SEAT_ZH: &str = "坐高铁订哪个座位？";
const LUNCH_WHERE: &str = "Where have I had lunch?";
/// Columns of the longest lunch.
const LUNCH_WIDTH: usize = 27;
const HOME_WHERE: &str = "Where is my home?";

pub(crate) fn remember(scene: &Scene) -> Result<Step> {
    let mut lines = Vec::new();
    let mut facts = Vec::new();
    for actor in [&scene.ada, &scene.wei] {
        let name = actor.user.id().as_str();
        let first = actor.user.get(actor.ids[0])?;
        let last = actor.user.get(actor.ids[2])?;
        let count = actor.ids.len();
        lines.push(format!("{} {count} memories: {}; {}", style(name).green(), first.text(), last.text()));
        facts.push(json!({"user": name, "memories": count}));
    }
    Ok(Step::new("Remember: on disk and sealed before the call returns", lines, Value::Array(facts)))
}

pub(crate) fn recall(scene: &Scene) -> Result<Step> {
    let mut lines = Vec::new();
    let mut facts = Vec::new();
    for (actor, text) in [(&scene.ada, SEAT), (&scene.wei, SEAT_ZH)] {
        let hits = actor.user.recall(scene.query(text).limit(3))?;
        lines.push(asked(actor.user.id().as_str(), text));
        lines.extend(hits.iter().map(hit_line));
        facts.push(json!({"query": text, "hits": hits.iter().map(hit_facts).collect::<Vec<_>>()}));
    }
    Ok(Step::new("Recall: the best of all memories, scored exactly", lines, Value::Array(facts)))
}

/// Two memories under four ideas of how age counts.
pub(crate) fn decay(scene: &Scene) -> Result<Step> {
    let query = || scene.query(LUNCH_WHERE).limit(usize::MAX);
    let fading = || query().curve(Curve::HalfLife { days: 60.0 }).floor(0.0);
    let views = [
        ("no decay", query().curve(Curve::None)),
        ("default", query()),
        ("60-day half-life", fading()),
        ("in 60 days", fading().at(scene.now.plus_days(60.0))),
    ];
    let answers: Vec<(&str, Recall)> =
        views.iter().map(|(name, query)| Ok((*name, scene.ada.user.recall(query)?))).collect::<Result<_>>()?;
    let heads: Vec<&str> = answers.iter().map(|(name, _)| *name).collect();
    let mut lines = vec![
        asked("ada", LUNCH_WHERE),
        style(format!("{}  {}", padded("", LUNCH_WIDTH), heads.join("  "))).dim().to_string(),
    ];
    let mut facts = Vec::new();
    for id in &scene.ada.ids[LUNCH..LUNCH + 2] {
        let memory = scene.ada.user.get(*id)?;
        let scores: Vec<f64> = answers.iter().map(|(_, hits)| score_of(hits, *id)).collect();
        let cells: Vec<String> =
            heads.iter().zip(&scores).map(|(head, score)| format!("{score:>0$.3}", head.len())).collect();
        lines.push(format!("{}  {}", padded(memory.text(), LUNCH_WIDTH), style(cells.join("  ")).yellow()));
        facts.push(json!({"text": memory.text(), "scores": scores}));
    }
    Ok(Step::new(
        "Decay: 3 and 300 days old; how age counts is yours to say",
        lines,
        json!({"curves": heads, "memories": facts}),
    ))
}

fn score_of(hits: &Recall, id: MemoryId) -> f64 {
    hits.iter().find(|hit| hit.id() == id).map_or(0.0, Hit::score)
}

pub(crate) fn correct(scene: &Scene) -> Result<Step> {
    let (user, old) = (&scene.ada.user, scene.ada.ids[HOME]);
    let before = user.recall(scene.query(HOME_WHERE).limit(1))?;
    let right = Correction::new("Home is in Lisbon, up the hill").value("Lisbon");
    let new = user.correct(old, right)?;
    let after = user.recall(scene.query(HOME_WHERE).limit(1))?;
    let history = user.history(old)?;
    let mut lines = vec![asked("ada", HOME_WHERE)];
    lines.extend(before.iter().map(|hit| format!("before  {}", hit_line(hit))));
    lines.extend(after.iter().map(|hit| format!("after   {}", hit_line(hit))));
    let verbs: Vec<&str> = history.iter().map(|change| change.verb.as_str()).collect();
    lines.push(format!("The old one stays in the history: {}.", verbs.join(", ")));
    let facts = json!({
        "superseded": old.to_string(),
        "by": new.to_string(),
        "before": before.iter().map(hit_facts).collect::<Vec<_>>(),
        "after": after.iter().map(hit_facts).collect::<Vec<_>>(),
        "history": verbs,
    });
    Ok(Step::new("Correct: the new memory supersedes, the old one is kept", lines, facts))
}

pub(crate) fn explain(scene: &Scene) -> Result<Step> {
    let hits = scene.ada.user.recall(scene.query(SEAT).limit(1))?;
    let mut lines = Vec::new();
    let mut facts = Vec::new();
    for hit in &hits {
        lines.push(style(hit.memory().text()).italic().to_string());
        let explanation = hit.explain().to_string();
        lines.extend(explanation.lines().map(|line| line.split(", calibration").next().unwrap_or(line).to_owned()));
        let verified = hit.verify();
        lines.push(format!("Recomputed from these parts: {}.", if verified { "the same bits" } else { "DIFFERS" }));
        facts.push(json!({"text": hit.memory().text(), "explanation": explanation, "verified": verified}));
    }
    Ok(Step::new("Explain: why is this the first hit?", lines, Value::Array(facts)))
}

pub(crate) fn why_not(scene: &Scene) -> Result<Step> {
    let ada = &scene.ada;
    let mut lines = Vec::new();
    let mut facts = Vec::new();
    for (number, text) in [(HOME, HOME_WHERE), (JAZZ, SEAT)] {
        let memory = ada.user.get(ada.ids[number])?;
        let why = ada.user.why_not(memory.id(), scene.query(text).limit(3))?.to_string();
        lines.push(asked("ada", text));
        lines.push(format!("{}: {why}", style(memory.text()).italic()));
        facts.push(json!({"text": memory.text(), "query": text, "why_not": why}));
    }
    Ok(Step::new("Why not: the first gate that kept a memory out", lines, Value::Array(facts)))
}

pub(crate) fn isolate(scene: &Scene) -> Result<Step> {
    let theirs =
        scene.wei.user.get(scene.ada.ids[HOME]).map_or_else(|error| error.to_string(), |_| "LEAKED".to_owned());
    let eve = scene.store.user("eve")?.recall(scene.query(SEAT))?;
    let reason = eve.reason().map_or_else(|| "LEAKED".to_owned(), |reason| reason.to_string());
    let lines = vec![
        format!("{} fetches a memory of ada: {theirs}", style("wei").green()),
        format!("{} asks for seats: {reason}", style("eve").green()),
    ];
    Ok(Step::new("Isolate: a user sees what is the user's own", lines, json!({"wei": theirs, "eve": reason})))
}

pub(crate) fn forget(scene: &Scene) -> Result<Step> {
    let Actor { user, ids } = &scene.ada;
    let text = user.get(ids[LUNCH])?.text().to_owned();
    let forgotten = user.forget(ids[LUNCH])?;
    let gone = user.get(ids[LUNCH]).map_or_else(|error| error.kind().to_string(), |_| "STILL THERE".to_owned());
    let wei = scene.store.forget_user("wei")?;
    let left = scene.wei.user.recall(scene.query(SEAT_ZH))?;
    let reason = left.reason().map_or_else(|| "STILL THERE".to_owned(), |reason| reason.to_string());
    let lines = vec![
        format!("{}: {}, its key is destroyed", style(&text).italic(), gone),
        format!("all {} memories of {}: {reason}, and so are the keys", wei.memories, style("wei").green()),
    ];
    let facts = json!({"memories": forgotten.memories, "get": gone, "user_memories": wei.memories, "recall": reason});
    Ok(Step::new("Forget: out of every answer and every file", lines, facts))
}
