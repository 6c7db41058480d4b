use crate::memory::named::named_enum;

named_enum! {
    /// What sort of thing is remembered.
    Kind, "kind" {
        /// Something that happened or was said; with a session and a sequence number, a *turn*.
        Episode = 0, "episode";
        /// Something that holds: of the user, or of the world as the user sees it.
        Fact = 1, "fact";
        /// What the user likes or wants.
        Preference = 2, "preference";
        /// What the user turned down.
        Rejection = 3, "rejection";
        /// What the user wants to reach.
        Goal = 4, "goal";
        /// Something to be done.
        Task = 5, "task";
        /// How a thing is done: tool experience.
        Procedure = 6, "procedure";
        /// What the agent itself did or recommended.
        Action = 7, "action";
        /// Anything else worth keeping.
        Note = 8, "note";
    }
}

named_enum! {
    /// How a memory came to be known, from strongest to weakest.
    Evidence, "evidence" {
        /// The user said it.
        Stated = 0, "stated";
        /// The user agreed to it.
        Confirmed = 1, "confirmed";
        /// It was seen in behaviour.
        Observed = 2, "observed";
        /// A model concluded it.
        Inferred = 3, "inferred";
        /// A prior of the cohort, at cold start.
        Assumed = 4, "assumed";
    }
}
