//! The look of the demonstration, or its JSON document.

use console::{measure_text_width, style};
use mnemic::Hit;
use serde_json::{Value, json};

use crate::failure::Result;
use crate::output;

/// Columns that a line may take.
const WIDTH: usize = 78;

/// One thing that is shown: lines for people, facts for programs.
pub(crate) struct Step {
    title: String,
    lines: Vec<String>,
    facts: Value,
}

impl Step {
    pub(crate) fn new(title: impl Into<String>, lines: Vec<String>, facts: Value) -> Self {
        Self { title: title.into(), lines, facts }
    }
}

/// What has been shown so far.
pub(crate) struct Page {
    json: bool,
    steps: Vec<Value>,
}

impl Page {
    pub(crate) fn new(json: bool) -> Self {
        Self { json, steps: Vec::new() }
    }

    pub(crate) fn head(&self, text: &str) -> Result<()> {
        if self.json { Ok(()) } else { output::line(&style(text).bold().to_string()) }
    }

    pub(crate) fn step(&mut self, step: &Step) -> Result<()> {
        self.steps.push(json!({"title": step.title, "facts": step.facts}));
        if self.json {
            return Ok(());
        }
        let number = self.steps.len();
        output::line(&format!("\n{} {}", style(number).cyan().bold(), style(&step.title).bold()))?;
        step.lines.iter().flat_map(|line| wrapped(line)).try_for_each(|line| output::line(&format!("  {line}")))
    }

    pub(crate) fn finish(&self, text: &str) -> Result<()> {
        if self.json {
            return output::json(&json!({"steps": self.steps}));
        }
        output::line(&format!("\n{}", style(text).dim()))
    }
}

/// A question as somebody asks it.
pub(crate) fn asked(who: &str, text: &str) -> String {
    format!("{} {}", style(format!("{who}:")).green(), style(text).italic())
}

/// A hit as a line: score, age, text.
pub(crate) fn hit_line(hit: &Hit) -> String {
    let score = style(format!("{:.3}", hit.score())).yellow();
    format!("{score}  {}  {}", age(hit.explain().age_days()), hit.memory().text())
}

/// A hit as facts.
pub(crate) fn hit_facts(hit: &Hit) -> Value {
    json!({"score": hit.score(), "age_days": hit.explain().age_days(), "text": hit.memory().text()})
}

/// Days, right-aligned.
pub(crate) fn age(days: f64) -> String {
    format!("{days:>4.0} days")
}

/// Text filled up with blanks to a width, as a terminal counts it.
pub(crate) fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(measure_text_width(text))))
}

/// A line broken at blanks where it is too long; what follows is indented as far as the line.
fn wrapped(line: &str) -> Vec<String> {
    if measure_text_width(line) <= WIDTH - 2 {
        return vec![line.to_owned()];
    }
    let indent = " ".repeat(line.len() - line.trim_start().len());
    let mut lines = vec![indent.clone()];
    for word in line.split_whitespace() {
        let last = lines.last().map_or(0, |last| measure_text_width(last));
        if last + 1 + measure_text_width(word) > WIDTH - 2 {
            lines.push(format!("{indent}  "));
        }
        if let Some(last) = lines.last_mut() {
            let gap = if last.trim().is_empty() { "" } else { " " };
            last.push_str(gap);
            last.push_str(word);
        }
    }
    lines
}
