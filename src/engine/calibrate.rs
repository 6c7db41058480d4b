//! Calibration of the embedding space from the vectors that are stored.

use crate::codec::UserHash;
use crate::engine::core::Core;
use crate::engine::full_vectors::Vectors;
use crate::engine::user_index::UserIndex;
use crate::error::{Error, Result};
use crate::memory::Calibration;
use crate::memory::limits::CALIBRATION_WIDTH_MIN;
use crate::policy::sample::{PairSampler, quantile};

/// Most pairs that are compared.
const PAIRS_MAX: u64 = 300_000;
/// The cosines that count as unrelated and as the same.
const LO_QUANTILE: f64 = 0.05;
const HI_QUANTILE: f64 = 0.999;

impl Core {
    /// Derives (lo, hi) from random pairs of memories of the same user, and publishes them as a new version.
    pub(crate) fn calibrate(&self) -> Result<Calibration> {
        self.check_open()?;
        let users = self.all_user_hashes()?;
        let mut pairs = Vec::with_capacity(users.len());
        for user in &users {
            pairs.push(self.with_index(*user, |_, index| Ok(pair_count(index)))?.unwrap_or(0));
        }
        let total: u64 = pairs.iter().sum();
        let mut cosines = Vec::new();
        for (user, pairs) in users.iter().zip(pairs).filter(|(_, pairs)| *pairs > 0) {
            let share = if total <= PAIRS_MAX {
                pairs
            } else {
                (u128::from(PAIRS_MAX) * u128::from(pairs) / u128::from(total)) as u64
            };
            self.with_index(*user, |head, index| {
                sample(self, index, &Vectors::new(self, head, &index.full, index.space), share, &mut cosines)
            })?;
        }
        if cosines.is_empty() {
            return Err(Error::unsupported("calibrate: fewer than two vectors of one user are stored"));
        }
        cosines.sort_unstable_by(f64::total_cmp);
        let lo = quantile(&cosines, LO_QUANTILE);
        let hi = quantile(&cosines, HI_QUANTILE).max(lo + CALIBRATION_WIDTH_MIN + 1e-9);
        self.recalibrate(lo, hi)
    }

    pub(crate) fn all_user_hashes(&self) -> Result<Vec<UserHash>> {
        let mut users = Vec::new();
        for number in 0..self.shard_count() {
            let view = self.shard_at(number).serving()?.read()?;
            view.scan_from(crate::codec::Table::Users, &[], |key, _| {
                users.push(UserHash(key.try_into().map_err(|_| Error::corrupt("users: malformed key"))?));
                Ok(std::ops::ControlFlow::Continue(()))
            })?;
        }
        Ok(users)
    }
}

fn pair_count(index: &UserIndex) -> u64 {
    let vectors = index.arena.iter().filter(|facts| facts.has_vector).count() as u64;
    vectors * vectors.saturating_sub(1) / 2
}

fn sample(core: &Core, index: &UserIndex, vectors: &Vectors<'_>, share: u64, cosines: &mut Vec<f64>) -> Result<()> {
    let mut rows: Vec<u32> = index.arena.iter().filter(|facts| facts.has_vector).map(|facts| facts.row).collect();
    rows.sort_unstable();
    for (a, b) in PairSampler::new(rows.len(), share) {
        if let (Some(a), Some(b)) = (vectors.get(rows[a])?, vectors.get(rows[b])?) {
            cosines.push(core.settings.kernel.dot(a, b));
        }
    }
    Ok(())
}
