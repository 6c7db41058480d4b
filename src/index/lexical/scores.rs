/// The words leg of one query: a value in [0, 1) for each row.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Scores(Vec<f64>);

impl Scores {
    /// Divides sums by what they could be at most.
    pub(super) fn of_sums(mut sums: Vec<f64>, ceiling: f64) -> Self {
        if ceiling <= 0.0 {
            return Self::default();
        }
        sums.iter_mut().for_each(|sum| *sum /= ceiling);
        Self(sums)
    }

    /// The value of a row; 0 for one that holds none of the query's terms.
    pub(crate) fn get(&self, row: u32) -> f64 {
        self.0.get(row as usize).copied().unwrap_or(0.0)
    }

    /// By row number; rows past the end count 0.
    pub(crate) fn as_slice(&self) -> &[f64] {
        &self.0
    }

    #[cfg(test)]
    /// The rows that hold a term of the query, ascending, with their values.
    pub(crate) fn hits(&self) -> impl Iterator<Item = (u32, f64)> {
        self.0.iter().enumerate().filter(|(_, v)| **v > 0.0).map(|(row, v)| (row as u32, *v))
    }
}
