use crate::engine::{Core, kernels};
use crate::error::Result;
use crate::memory::Space;

/// Facts of an open store.
#[derive(Debug, Clone, PartialEq)]
pub struct StoreStats {
    /// Users who have memories.
    pub users: u64,
    /// Bytes of each shard's file.
    pub shard_bytes: Vec<u64>,
    /// Bytes of user indexes in memory.
    pub cache_bytes: usize,
    /// The budget for them.
    pub cache_budget_bytes: usize,
    /// The distance kernel in use.
    pub kernel: &'static str,
    /// The kernels that this CPU could use.
    pub kernels_available: Vec<&'static str>,
    /// The kernels in this build.
    pub kernels_compiled: Vec<&'static str>,
    /// The space of the stored vectors, once there is one.
    pub space: Option<Space>,
}

impl StoreStats {
    pub(crate) fn of(core: &Core) -> Result<Self> {
        let shard_bytes = (0..core.shard_count()).map(|number| core.shard_at(number).serving()?.file_bytes());
        Ok(Self {
            users: core.user_count()?,
            shard_bytes: shard_bytes.collect::<Result<_>>()?,
            cache_bytes: core.cache.held_bytes(),
            cache_budget_bytes: core.cache.budget_bytes(),
            kernel: core.settings.kernel.kernel().name(),
            kernels_available: kernels::available(),
            kernels_compiled: kernels::compiled(),
            space: core.spaces.read().current().map(|(_, space)| space.clone()),
        })
    }
}
