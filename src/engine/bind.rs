//! A query in the terms of the store: its vector, its words, its scorer.

use crate::embed::Purpose;
use crate::engine::core::Core;
use crate::engine::recall::Ask;
use crate::engine::text_legs::TextQuery;
use crate::error::{Error, Result};
use crate::memory::{Calibration, Space, Timestamp, Vector};
use crate::policy::score::{ScoreParams, Scorer};

/// The share of the dense leg where it is the only one: its scale then is the score's.
const DENSE_ALONE: f64 = 1.0;

/// A query that can be scored.
pub(crate) struct Bound<'a> {
    pub(crate) ask: &'a Ask,
    /// What the dense leg compares; `None` where it abstains.
    pub(crate) vector: Option<Vector>,
    pub(crate) text: Option<TextQuery>,
    /// The space of the vector.
    pub(crate) space: Option<u32>,
    pub(crate) calibration: Calibration,
    pub(crate) scorer: Scorer,
    /// Why the dense leg of a text query abstains.
    pub(crate) abstained: Option<String>,
}

impl Core {
    /// Finds the query's vector, words and scorer.
    pub(crate) fn bind<'a>(&self, ask: &'a Ask) -> Result<Bound<'a>> {
        let now = ask.at.or(ask.as_of).unwrap_or_else(|| self.now());
        let (vector, abstained) = self.vector_of(ask)?;
        let text = ask.text.as_ref().map(|text| TextQuery::new(text, now, ask.legs));
        let spaces = self.spaces.read();
        let current = spaces.current();
        if let (Some(vector), Some((_, space))) = (&vector, current) {
            check_dims(vector, space)?;
        }
        let raw = ask.raw_cosine || current.is_none();
        let calibration = current.filter(|_| !raw).map_or(Calibration::RAW, |(_, space)| space.calibration());
        let space = current.map(|(number, _)| number);
        let scorer = scorer(ask, now, text.is_some(), calibration)?;
        Ok(Bound { ask, vector, text, space, calibration, scorer, abstained })
    }

    /// What the dense leg compares, or why it abstains.
    fn vector_of(&self, ask: &Ask) -> Result<(Option<Vector>, Option<String>)> {
        match (&ask.vector, &ask.text) {
            (Some(vector), _) => Ok((Some(vector.clone()), None)),
            (None, None) => Err(Error::invalid("query: neither text nor vector")),
            (None, Some(_)) if !ask.legs.dense => Ok((None, None)),
            (None, Some(text)) => match self.embed_query(text) {
                Ok(vector) => Ok((Some(vector), None)),
                Err(error) if ask.legs.words => Ok((None, Some(error.message().to_owned()))),
                Err(error) => Err(error),
            },
        }
    }

    fn embed_query(&self, text: &str) -> Result<Vector> {
        let embedder = self.settings.embedder.as_ref();
        let embedder =
            embedder.ok_or_else(|| Error::unsupported("query text: the store was opened without an embedder"))?;
        self.spaces.read().check_embedder()?;
        let answer = embedder.embed(&[text], Purpose::Query);
        let mut vectors =
            answer.map_err(|error| Error::unsupported(format!("query text: {error}")).with_source(error))?;
        match (vectors.pop(), vectors.is_empty()) {
            (Some(Some(numbers)), true) => Vector::new(&numbers),
            (Some(None), true) => Err(Error::unsupported(format!(
                "query text: the model {:?} has no vector for it, such as for a language that it does not have",
                embedder.space().model()
            ))),
            _ => Err(Error::unsupported("query text: the embedder did not give one vector for one text")),
        }
    }
}

fn check_dims(vector: &Vector, space: &Space) -> Result<()> {
    if space.dims() == vector.dims() {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "query vector: {} numbers, the store's space {:?} has {}",
        vector.dims(),
        space.model(),
        space.dims()
    )))
}

fn scorer(ask: &Ask, now: Timestamp, is_text: bool, calibration: Calibration) -> Result<Scorer> {
    Scorer::new(ScoreParams {
        decay: ask.decay,
        dense_share: if is_text { ask.shares.dense } else { DENSE_ALONE },
        lo: calibration.lo(),
        hi: calibration.hi(),
        z: if is_text && ask.legs.context { ask.shares.turn_divisor() } else { 1.0 },
        weighted: ask.weighted,
        now: now.as_micros(),
    })
}
