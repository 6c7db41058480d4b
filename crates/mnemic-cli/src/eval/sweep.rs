//! How the measures move when one share or the curve is changed.

use mnemic::{Curve, Query, Shares};
use serde::Serialize;

use crate::args::Legs;
use crate::eval::metrics::Summary;
use crate::eval::run::Asked;
use crate::failure::{Failure, Result};

/// What each share is multiplied by.
const FACTORS: [f64; 6] = [0.0, 0.5, 0.75, 1.25, 1.5, 2.0];
/// Rates of forgetting, a day, and the floors that they are tried with.
const LAMBDAS: [f64; 4] = [0.0, 0.005, 0.05, 0.3];
const FLOORS: [f64; 3] = [0.0, 0.5, 0.9];

/// A way to ask.
#[derive(Default)]
pub(crate) struct Variant {
    shares: Option<Shares>,
    /// Lambda and floor.
    curve: Option<(f64, f64)>,
}

/// A change and what it gave.
#[derive(Serialize)]
pub(crate) struct Swept {
    pub(crate) change: String,
    pub(crate) all: Summary,
    /// The questions that name a date.
    pub(crate) dated: Summary,
}

impl Variant {
    pub(crate) fn apply(&self, query: Query) -> Query {
        let query = self.shares.into_iter().fold(query, Query::shares);
        self.curve
            .into_iter()
            .fold(query, |query, (lambda, floor)| query.curve(Curve::Exponential { lambda }).floor(floor))
    }
}

/// Asks everything again for each change, one at a time.
pub(crate) fn sweep(asked: &Asked<'_>) -> Result<Vec<Swept>> {
    if asked.args.legs != Legs::Hybrid || asked.args.no_decay {
        return Err(Failure::usage("--sweep tries the hybrid legs with decay; leave --legs and --no-decay out"));
    }
    let mut swept = Vec::new();
    for (change, variant) in variants() {
        let scored = asked.all(&variant)?;
        let of = |only_dated: bool| {
            Summary::of(scored.iter().filter(|one| one.dated || !only_dated).map(|one| &one.measures))
        };
        swept.push(Swept { change, all: of(false), dated: of(true) });
    }
    Ok(swept)
}

/// A share by its name, and the way to it.
type Named = (&'static str, fn(&mut Shares) -> &mut f64);

fn variants() -> Vec<(String, Variant)> {
    let mut variants = vec![("defaults".to_owned(), Variant::default())];
    let named: [Named; 6] = [
        ("dense", |s| &mut s.dense),
        ("words", |s| &mut s.words),
        ("time", |s| &mut s.time),
        ("speaker", |s| &mut s.speaker),
        ("near", |s| &mut s.near),
        ("session", |s| &mut s.session),
    ];
    for (name, share) in named {
        for factor in FACTORS {
            let mut shares = Shares::DEFAULT;
            *share(&mut shares) *= factor;
            let change = format!("{name} {:.3}", share(&mut shares));
            variants.push((change, Variant { shares: Some(shares), curve: None }));
        }
    }
    for lambda in LAMBDAS {
        for floor in FLOORS {
            let change = format!("lambda {lambda}, floor {floor}");
            variants.push((change, Variant { shares: None, curve: Some((lambda, floor)) }));
        }
    }
    variants
}
