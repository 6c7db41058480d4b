use crate::memory::named::named_enum;

named_enum! {
    /// What was done to a memory.
    Verb, "verb" {
        /// Stored.
        Remember = 0, "remember";
        /// Changed in place.
        Update = 1, "update";
        /// Replaced by a newer memory.
        Correct = 2, "correct";
        /// Confirmed.
        Confirm = 3, "confirm";
        /// Contradicted.
        Contradict = 4, "contradict";
        /// Used in an answer.
        Use = 5, "use";
        /// Forgotten: the entry keeps the row number alone.
        Forget = 6, "forget";
        /// Embedded after the fact.
        Embed = 7, "embed";
        /// Brought back to what it was in a snapshot, or archived because that snapshot has none of it.
        Restore = 8, "restore";
    }
}
