//! What an evaluation prints.

use std::collections::BTreeMap;

use mnemic::memory::Calibration;
use serde::Serialize;

use crate::args::EvalArgs;
use crate::eval::metrics::{Scored, Summary, by_category};
use crate::eval::sweep::Swept;
use crate::failure::Result;
use crate::output::{self, Align};

/// How the figures came about.
#[derive(Serialize)]
pub(crate) struct Config {
    legs: String,
    decay: &'static str,
    embedder: String,
    raw_cosine: bool,
    lo: Option<f64>,
    hi: Option<f64>,
    answer_hits: usize,
    mrr_depth: &'static str,
}

#[derive(Serialize)]
pub(crate) struct Report {
    all: Summary,
    by_category: BTreeMap<String, Summary>,
    /// The questions that name a date.
    dated: Dated,
    config: Config,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sweep: Vec<Swept>,
}

#[derive(Serialize)]
struct Dated {
    #[serde(flatten)]
    summary: Summary,
    qids: Vec<String>,
}

impl Config {
    pub(crate) fn new(args: &EvalArgs, model: Option<&str>, calibration: Option<Calibration>, answer: usize) -> Self {
        Self {
            legs: args.legs.to_string(),
            decay: if args.no_decay { "none" } else { "exponential .005 a day, floor .9" },
            embedder: model.map_or_else(|| "builtin".to_owned(), |model| format!("stored: {model}")),
            raw_cosine: true,
            lo: calibration.map(|found| found.lo()),
            hi: calibration.map(|found| found.hi()),
            answer_hits: answer,
            mrr_depth: "all",
        }
    }
}

impl Report {
    pub(crate) fn new(scored: &[Scored], config: Config, sweep: Vec<Swept>) -> Self {
        let all = Summary::of(scored.iter().map(|one| &one.measures));
        let dated = || scored.iter().filter(|one| one.dated);
        let dated = Dated {
            summary: Summary::of(dated().map(|one| &one.measures)),
            qids: dated().map(|one| one.qid.clone()).collect(),
        };
        Self { all, by_category: by_category(scored), dated, config, sweep }
    }

    pub(crate) fn print(&self, json: bool) -> Result<()> {
        if json {
            return output::json(self);
        }
        let mut rows: Vec<Vec<String>> = self.by_category.iter().map(|(name, summary)| row(name, summary)).collect();
        rows.push(row("all", &self.all));
        if !self.dated.qids.is_empty() {
            rows.push(row("that name a date", &self.dated.summary));
        }
        let heads = ["category", "queries", "recall@5", "recall@10", "nDCG@10", "MRR", "tokens"];
        let [left, right] = [Align::Left, Align::Right];
        output::table(&heads, &[left, right, right, right, right, right, right], rows)?;
        let shown = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.4}"));
        let Config { legs, decay, embedder, lo, hi, answer_hits, .. } = &self.config;
        output::line(&format!("legs {legs} (raw cosine); decay {decay}; embedder {embedder}"))?;
        output::line(&format!(
            "calibration lo {}, hi {}; tokens are those of the first {answer_hits} hits",
            shown(*lo),
            shown(*hi)
        ))?;
        if !self.dated.qids.is_empty() {
            output::line(&format!("questions that name a date: {}", self.dated.qids.join(" ")))?;
        }
        self.print_sweep()
    }

    fn print_sweep(&self) -> Result<()> {
        if self.sweep.is_empty() {
            return Ok(());
        }
        let heads = ["change", "queries", "recall@5", "recall@10", "nDCG@10", "MRR", "tokens", "dated recall@5"];
        let [left, right] = [Align::Left, Align::Right];
        let cells = |swept: &Swept| {
            let mut cells = row(&swept.change, &swept.all);
            cells.push(format!("{:.4}", swept.dated.means.recall_at_5));
            cells
        };
        let rows = self.sweep.iter().map(cells).collect();
        output::table(&heads, &[left, right, right, right, right, right, right, right], rows)
    }
}

fn row(name: &str, summary: &Summary) -> Vec<String> {
    let means = &summary.means;
    let mut cells = vec![name.to_owned(), summary.queries.to_string()];
    let figures = [means.recall_at_5, means.recall_at_10, means.ndcg_at_10, means.mrr];
    cells.extend(figures.iter().map(|figure| format!("{figure:.4}")));
    cells.push(format!("{:.0}", means.tokens_per_answer));
    cells
}
