/// The words leg of one query: a value in [0, 1) for each row.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Scores {
    values: Vec<f64>,
    hits: Vec<u32>,
}

impl Scores {
    /// The value of a row; 0 for one that holds none of the query's terms.
    pub(crate) fn get(&self, row: u32) -> f64 {
        self.values.get(row as usize).copied().unwrap_or(0.0)
    }

    /// By row number; rows past the end count 0.
    pub(crate) fn as_slice(&self) -> &[f64] {
        &self.values
    }

    #[cfg(test)]
    /// The rows that hold a term of the query, ascending, with their values.
    pub(crate) fn ranked(&self) -> impl Iterator<Item = (u32, f64)> {
        self.values.iter().enumerate().filter(|(_, v)| **v > 0.0).map(|(row, v)| (row as u32, *v))
    }

    /// The rows that hold a term of the query, each once, in no order.
    pub(crate) fn hits(&self) -> &[u32] {
        &self.hits
    }
}

/// Sums of the terms so far.
pub(super) struct Sums {
    values: Vec<f64>,
    hits: Vec<u32>,
}

impl Sums {
    pub(super) fn of_rows(rows: usize) -> Self {
        Self { values: vec![0.0; rows], hits: Vec::new() }
    }

    /// Adds what a term is worth to some rows, each above 0 or nothing at all.
    pub(super) fn add(&mut self, rows: &[u32], values: &[f64]) {
        for (row, value) in rows.iter().zip(values).filter(|(_, value)| **value > 0.0) {
            if let Some(sum) = self.values.get_mut(*row as usize) {
                if *sum == 0.0 {
                    self.hits.push(*row);
                }
                *sum += value;
            }
        }
    }

    /// The sums over the largest that could be.
    pub(super) fn over(self, ceiling: f64) -> Scores {
        let Self { mut values, hits } = self;
        if ceiling <= 0.0 {
            return Scores::default();
        }
        hits.iter().for_each(|row| values[*row as usize] /= ceiling);
        Scores { values, hits }
    }
}
