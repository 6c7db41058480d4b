use crate::memory::named::named_enum;

named_enum! {
    /// How private a memory is, from least to most. A recall names the highest level it may see.
    Sensitivity, "sensitivity" {
        /// Anyone may know.
        Public = 0, "public";
        /// The user's own business; the level of a new memory and of a recall unless said.
        Personal = 1, "personal";
        /// Health, money, beliefs and the like.
        Sensitive = 2, "sensitive";
        /// Only on explicit demand.
        Secret = 3, "secret";
    }
}

named_enum! {
    /// What an answer may do with a memory.
    Visibility, "visibility" {
        /// It may be repeated to the user.
        Quote = 0, "quote";
        /// It may shape the answer but not be quoted.
        Inform = 1, "inform";
        /// It never reaches the prompt.
        Withhold = 2, "withhold";
    }
}
