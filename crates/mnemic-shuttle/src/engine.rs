//! The library's files under test, and stand-ins for what they hold.

#[path = "../../../src/engine/commit_queue.rs"]
pub(crate) mod commit_queue;

#[allow(dead_code, reason = "the models use a part of it")]
#[path = "../../../src/engine/user_cell.rs"]
pub(crate) mod user_cell;

pub(crate) mod head {
    /// The commit that it is of.
    pub(crate) struct Head(pub(crate) u64);
}

pub(crate) mod user_index {
    /// An index of so many bytes that follows a commit.
    pub(crate) struct UserIndex {
        pub(crate) space: Option<u32>,
        pub(crate) version: u64,
        pub(crate) full: Full,
    }

    pub(crate) struct Full(pub(crate) usize);

    impl Full {
        /// Lets go of half; whether there was any.
        pub(crate) fn shed(&mut self) -> bool {
            self.0 /= 2;
            self.0 > 0
        }
    }

    impl UserIndex {
        pub(crate) fn bytes(&self) -> usize {
            self.full.0
        }
    }
}
