/// Rows that share one bound.
pub(crate) const BLOCK_ROWS: usize = 256;

/// The words leg of one query: a value in [0, 1) for each row.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Scores {
    values: Vec<f64>,
    largest: Vec<f64>,
}

impl Scores {
    /// Divides sums by what they could be at most.
    pub(super) fn of_sums(mut sums: Vec<f64>, ceiling: f64) -> Self {
        if ceiling <= 0.0 {
            return Self::default();
        }
        let largest = sums.chunks_mut(BLOCK_ROWS).map(|block| scale(block, ceiling)).collect();
        Self { values: sums, largest }
    }

    /// The value of a row; 0 for one that holds none of the query's terms.
    pub(crate) fn get(&self, row: u32) -> f64 {
        self.values.get(row as usize).copied().unwrap_or(0.0)
    }

    #[cfg(test)]
    /// By row number; rows past the end count 0.
    pub(crate) fn as_slice(&self) -> &[f64] {
        &self.values
    }

    #[cfg(test)]
    /// The largest value of the rows `block * BLOCK_ROWS ..` of a block.
    pub(crate) fn largest(&self, block: usize) -> f64 {
        self.largest.get(block).copied().unwrap_or(0.0)
    }

    #[cfg(test)]
    /// The rows that hold a term of the query, ascending, with their values.
    pub(crate) fn hits(&self) -> impl Iterator<Item = (u32, f64)> {
        let blocks = self.values.chunks(BLOCK_ROWS).zip(&self.largest).enumerate();
        blocks.filter(|(_, (_, largest))| **largest > 0.0).flat_map(|(block, (values, _))| {
            let first = block * BLOCK_ROWS;
            values.iter().enumerate().filter(|(_, v)| **v > 0.0).map(move |(at, v)| ((first + at) as u32, *v))
        })
    }
}

fn scale(block: &mut [f64], ceiling: f64) -> f64 {
    let mut largest = 0.0;
    for value in block.iter_mut().filter(|value| **value > 0.0) {
        *value /= ceiling;
        largest = f64::max(largest, *value);
    }
    largest
}
