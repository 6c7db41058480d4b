//! Centres of rows, by k-means on a sample.

use crate::kernel::{Dispatch, PlanedQuery, padded};

/// Unit vectors that rows gather around, quantised as rows are.
pub(in crate::index::vector) struct Centroids {
    kernel: Dispatch,
    dims: usize,
    rows: Vec<u8>,
    scales: Vec<f32>,
}

/// A row that centres are made from.
pub(in crate::index::vector) struct Sampled {
    pub(super) row: u32,
    pub(super) vector: Vec<f32>,
    pub(super) planes: PlanedQuery,
}

impl Sampled {
    /// Its numbers, and those of its planes.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>() + 2 * size_of::<f32>() * self.vector.len()
    }
}

/// Sampled rows by their nearest centre, as far as they were counted.
#[derive(Default)]
pub(in crate::index::vector) struct Groups {
    middles: Vec<Vec<f32>>,
    members: Vec<Vec<usize>>,
    pub(super) count: usize,
}

impl Centroids {
    /// As many centres as there are first members, which they start as.
    pub(super) fn start<'a>(kernel: Dispatch, dims: usize, members: impl Iterator<Item = &'a Sampled>) -> Self {
        let mut all = Self { kernel, dims, rows: Vec::new(), scales: Vec::new() };
        for member in members {
            all.scales.push(0.0);
            all.rows.resize(all.scales.len() * padded(dims), 0);
            all.set(all.scales.len() - 1, &member.vector);
        }
        all
    }

    /// Counts some sampled rows to their nearest centres.
    pub(super) fn gather(&self, sample: &[Sampled], groups: &mut Groups) {
        groups.middles.resize_with(self.len(), || vec![0.0; self.dims]);
        groups.members.resize(self.len(), Vec::new());
        for one in sample {
            let (nearest, _) = self.nearest(&one.planes);
            groups.middles[nearest].iter_mut().zip(&one.vector).for_each(|(sum, x)| *sum += x);
            groups.members[nearest].push(groups.count);
            groups.count += 1;
        }
    }

    /// Moves each centre to the middle of its group; one without a group goes to a row of the largest.
    pub(super) fn improve(&mut self, sample: &[Sampled], mut groups: Groups) {
        for at in 0..self.len() {
            if !groups.members[at].is_empty() {
                self.set(at, &groups.middles[at]);
                continue;
            }
            let largest = (0..self.len()).max_by_key(|&group| groups.members[group].len()).unwrap_or(at);
            if let Some(member) = groups.members[largest].pop() {
                self.set(at, &sample[member].vector);
            }
        }
    }

    fn set(&mut self, at: usize, direction: &[f32]) {
        let norm = direction.iter().map(|x| x * x).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
        let unit: Vec<f32> = direction.iter().map(|x| x / norm).collect();
        let stride = padded(self.dims);
        self.scales[at] = self.kernel.quantise_row(&unit, &mut self.rows[at * stride..][..stride]).scale;
    }

    pub(super) fn len(&self) -> usize {
        self.scales.len()
    }

    /// The dot products of a vector with all centres.
    pub(super) fn dots(&self, planes: &PlanedQuery) -> Vec<f32> {
        let mut sums = vec![0; self.len()];
        self.kernel.scan_i8(planes, &self.rows, &mut sums);
        sums.iter().zip(&self.scales).map(|(&sum, scale)| sum as f32 * (scale * planes.scale)).collect()
    }

    /// The nearest centre of a vector, and their dot product.
    pub(super) fn nearest(&self, planes: &PlanedQuery) -> (usize, f32) {
        let better = |best: (usize, f32), (at, dot)| if dot > best.1 { (at, dot) } else { best };
        self.dots(planes).into_iter().enumerate().fold((0, f32::NEG_INFINITY), better)
    }

    pub(super) fn bytes(&self) -> usize {
        self.rows.capacity() + self.scales.capacity() * size_of::<f32>()
    }
}
