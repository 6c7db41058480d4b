//! What approximate answers have measured so far, kept with the head of a user. Numbers alone: no vector, no question.

use crate::codec::bytes::{Reader, Writer};
use crate::error::Result;

const VERSION: u8 = 1;

/// Count, mean and sum of squared differences from the mean.
pub(crate) type StoredMoments = [f64; 3];

/// What is measured of one user's vectors in one space.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Measured {
    pub(crate) space: u32,
    /// Rows there were when estimates were measured.
    pub(crate) rows: u32,
    /// How far estimates were off, for rows that stood in for questions.
    pub(crate) sampled: StoredMoments,
    /// The same for real questions, and how many those were.
    pub(crate) asked: StoredMoments,
    pub(crate) questions: u32,
    /// Questions so far.
    pub(crate) watched: u32,
    /// True hits, those that were wanted, said and found, and deviations that margins are wider by.
    pub(crate) watch: [f64; 5],
}

impl Measured {
    pub(crate) fn encode(self) -> Vec<u8> {
        let mut out = Writer::with_capacity(128);
        out.u8(VERSION).u32(self.space).u32(self.rows).u32(self.questions).u32(self.watched);
        self.numbers().for_each(|number| _ = out.f64(number));
        out.finish()
    }

    /// `None` where nothing was measured, or a newer version measured something else: it is measured again.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Option<Self>> {
        let mut input = Reader::new(bytes, "measured");
        match bytes.first() {
            None => return Ok(None),
            Some(version) if *version > VERSION => return Ok(None),
            Some(_) => input.version(VERSION)?,
        }
        let (space, rows, questions, watched) = (input.u32()?, input.u32()?, input.u32()?, input.u32()?);
        let mut floats = [0.0; 11];
        for number in &mut floats {
            *number = input.f64()?;
        }
        let [a, b, c, d, e, f, watch @ ..] = floats;
        let measured = Self { space, rows, sampled: [a, b, c], asked: [d, e, f], questions, watched, watch };
        input.end()?;
        if measured.numbers().all(f64::is_finite) { Ok(Some(measured)) } else { Err(input.corrupt()) }
    }

    fn numbers(self) -> impl Iterator<Item = f64> {
        self.sampled.into_iter().chain(self.asked).chain(self.watch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEASURED: Measured = Measured {
        space: 3,
        rows: 9000,
        sampled: [768.0, 0.5, 12.0],
        asked: [640.0, -0.25, 9.0],
        questions: 64,
        watched: 70_000,
        watch: [1.0, 2.0, 3.0, 4.0, 0.5],
    };

    #[test]
    fn it_comes_back_and_refuses_what_is_no_number() {
        let mut bytes = MEASURED.encode();
        assert_eq!(Measured::decode(&bytes).unwrap(), Some(MEASURED));
        assert!((1..bytes.len()).all(|end| Measured::decode(&bytes[..end]).is_err()));
        assert_eq!(Measured::decode(&[]).unwrap(), None);
        bytes[0] = 2;
        assert_eq!(Measured::decode(&bytes).unwrap(), None, "of a newer version");
        let mut odd = MEASURED;
        odd.watch[4] = f64::NAN;
        assert!(Measured::decode(&odd.encode()).is_err());
    }
}
