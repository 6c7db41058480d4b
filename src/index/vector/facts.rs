//! What the index knows of a memory besides its vector.

/// The status byte of an active memory.
pub(crate) const STATUS_ACTIVE: u8 = 0;
/// Levels of sensitivity; higher bytes count as the highest.
pub(super) const LEVELS: usize = 4;

/// The facts of one row. No policy results: weights and bounds are derived from them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Facts {
    /// Id of the memory.
    pub(crate) id: [u8; 16],
    /// Row number, unique within the user.
    pub(crate) row: u32,
    /// Version of the record.
    pub(crate) version: u32,
    /// The effective time that age counts from, in microseconds.
    pub(crate) time: i64,
    /// In microseconds.
    pub(crate) created_at: i64,
    /// Begin of validity, in microseconds.
    pub(crate) valid_from: i64,
    /// End of validity, in microseconds.
    pub(crate) valid_to: i64,
    /// In [0, 1].
    pub(crate) importance: f32,
    /// In [0, 1].
    pub(crate) confidence: f32,
    /// Code of the kind.
    pub(crate) kind: u8,
    /// Code of the status; [`STATUS_ACTIVE`] is active.
    pub(crate) status: u8,
    /// Level, 0 the most public.
    pub(crate) sensitivity: u8,
    /// Code of the visibility.
    pub(crate) visibility: u8,
    /// Whether it never decays.
    pub(crate) pinned: bool,
    /// Whether it is a turn of a conversation.
    pub(crate) turn: bool,
    /// The space of the model that has answered for it, with a vector or with none; 0 while it is pending.
    pub(crate) space: u8,
    /// Whether its vector is known; the arena keeps this itself.
    pub(crate) has_vector: bool,
}

/// Where the quantised form of a new row comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum VectorSource<'a> {
    /// The vector is pending.
    None,
    /// A unit vector, to be quantised.
    Full(&'a [f32]),
    /// A row as it was stored: biased and padded bytes with their scale.
    Quantised(&'a [u8], crate::kernel::RowScale),
}

/// A row to insert.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NewRow<'a> {
    /// Its facts.
    pub(crate) facts: Facts,
    /// Its vector.
    pub(crate) vector: VectorSource<'a>,
}
