//! Every limit of the vocabulary, as a named constant. Sizes are bytes of UTF-8 unless said.

/// Longest text of a memory.
pub const TEXT_BYTES_MAX: usize = 64 * 1024;
/// Longest value of a fact.
pub const VALUE_BYTES_MAX: usize = 4 * 1024;
/// Most metadata of a memory: keys and values together.
pub const METADATA_BYTES_MAX: usize = 16 * 1024;
/// Longest metadata key.
pub const METADATA_KEY_BYTES_MAX: usize = 128;
/// Most entries of the metadata map.
pub const METADATA_ENTRIES_MAX: usize = 256;
/// Most tags of a memory.
pub const TAGS_MAX: usize = 32;
/// Longest tag.
pub const TAG_BYTES_MAX: usize = 128;
/// Longest user id.
pub const USER_ID_BYTES_MAX: usize = 512;
/// Longest short name: scene, speaker, session, subject, attribute, actor, extractor, model.
pub const NAME_BYTES_MAX: usize = 256;
/// Longest language tag (BCP 47).
pub const LANGUAGE_BYTES_MAX: usize = 35;
/// Most ids in `derived_from` or `supersedes`.
pub const LINKS_MAX: usize = 256;
/// Fewest dimensions of a vector.
pub const DIMS_MIN: usize = 8;
/// Most dimensions of a vector.
pub const DIMS_MAX: usize = 4096;
/// Smallest width `hi - lo` of a space's calibration.
pub const CALIBRATION_WIDTH_MIN: f64 = 0.05;
/// Most languages that a space names.
pub const SPACE_LANGUAGES_MAX: usize = 64;
/// Most memories in one `remember_all`.
pub const BATCH_MAX: usize = 10_000;
/// Traces of recalls that are kept of a user; the oldest go first.
pub const TRACES_MAX: u64 = 10_000;
/// Most rows (memories ever stored) of one user.
pub const ROWS_MAX: u32 = u32::MAX - 1;
/// Most embedding models that a store has in its life.
pub const SPACES_MAX: usize = 250;
/// Most ids in one list of contradicted memories of a query.
pub const CONTRADICTED_MAX: usize = 1_024;
/// Most nodes of a filter.
pub const FILTER_NODES_MAX: usize = 256;
/// Fewest and most shards of a store.
pub const SHARDS: std::ops::RangeInclusive<usize> = 1..=64;
/// Longest query text.
pub const QUERY_BYTES_MAX: usize = 64 * 1024;
/// Most snapshots of a store: each is one more file that a forgetting has to visit.
pub const SNAPSHOTS_MAX: usize = 64;
