//! Rows and queries: clustered ones from a seed, real ones where they are.

use std::path::Path;

use mnemic::LabRow;

pub(crate) const DIMS: usize = 384;
pub(crate) const DAY: i64 = 86_400_000_000;
pub(crate) const NOW: i64 = 20_000 * DAY;

/// A small generator, so that the data is the same everywhere.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / (1u64 << 31) as f64
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.unit().max(1e-12).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    fn near(&mut self, centre: &[f32], spread: f64) -> Vec<f32> {
        unit(centre.iter().map(|&x| x + (spread * self.normal()) as f32).collect())
    }
}

fn unit(mut values: Vec<f32>) -> Vec<f32> {
    let norm = values.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt();
    values.iter_mut().for_each(|x| *x = (f64::from(*x) / norm) as f32);
    values
}

/// Vectors, and queries of their kind.
pub(crate) struct Vectors {
    pub(crate) rows: Vec<Vec<f32>>,
    pub(crate) queries: Vec<Vec<f32>>,
}

/// `count` vectors around a hundred centres.
pub(crate) fn clustered(count: usize, queries: usize) -> Vectors {
    let mut random = Random(7);
    let centres: Vec<Vec<f32>> = (0..100).map(|_| random.near(&[0.0; DIMS], 1.0)).collect();
    let mut draw = |many: usize, spread: f64| -> Vec<Vec<f32>> {
        let one = |_| {
            let centre = (random.unit() * centres.len() as f64) as usize;
            random.near(&centres[centre], spread)
        };
        (0..many).map(one).collect()
    };
    Vectors { rows: draw(count, 0.04), queries: draw(queries, 0.05) }
}

/// Real sentence vectors; none where the data isn't.
pub(crate) fn real(count: usize, queries: usize) -> Option<Vectors> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/vectors_wordnet");
    Some(Vectors {
        rows: npy(&dir.join("corpus.minilm.f16.npy"), count)?,
        queries: npy(&dir.join("queries.minilm.f16.npy"), queries)?,
    })
}

/// Rows with ages of 365 u^2 days and weights uniform in (0, 1], or all of weight 1.
pub(crate) fn rows(vectors: &[Vec<f32>], equal: bool) -> Vec<LabRow> {
    let mut random = Random(11);
    let row = |vector: &Vec<f32>| LabRow {
        vector: vector.clone(),
        time: NOW - (365.0 * random.unit().powi(2) * DAY as f64) as i64,
        weight: if equal { 1.0 } else { (1.0 - random.unit()) as f32 },
        pinned: false,
    };
    vectors.iter().map(row).collect()
}

#[expect(clippy::disallowed_methods, reason = "a bench reads its data")]
fn npy(path: &Path, count: usize) -> Option<Vec<Vec<f32>>> {
    let bytes = std::fs::read(path).ok()?;
    let header = usize::from(u16::from_le_bytes([*bytes.get(8)?, *bytes.get(9)?]));
    let rows = bytes.get(10 + header..)?.chunks_exact(2 * DIMS).take(count);
    let half = |pair: &[u8]| half(u16::from_le_bytes([pair[0], pair[1]]));
    Some(rows.map(|row| unit(row.chunks_exact(2).map(half).collect())).collect())
}

fn half(bits: u16) -> f32 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f32::from(bits & 1023) / 1024.0);
    if exponent == 0 { sign * fraction * 2f32.powi(-14) } else { sign * (1.0 + fraction) * 2f32.powi(exponent - 15) }
}
