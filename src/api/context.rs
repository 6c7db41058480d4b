use std::fmt;
use std::sync::Arc;

use crate::api::TraceId;
use crate::engine::{Block, Item, Layout, Recalled, pack};
use crate::error::{Error, Result};
use crate::memory::{Memory, MemoryId, Timestamp};
use crate::policy::context::Omission as Reason;
use crate::text::Language;

/// How a prompt block is made. Every setter states its default.
#[derive(Clone)]
pub struct ContextOptions {
    budget_tokens: usize,
    language: Option<PromptLanguage>,
    tokens: Option<Estimator>,
}

/// The tokens of a text.
type Estimator = Arc<dyn Fn(&str) -> usize + Send + Sync>;

/// The language of a block's frame and labels; memories stay as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptLanguage {
    /// "3 days ago".
    English,
    /// "3天前".
    Chinese,
}

impl ContextOptions {
    /// A block of at most `budget_tokens`, all of it counted: frame, labels and text.
    pub fn new(budget_tokens: usize) -> Self {
        Self { budget_tokens, language: None, tokens: None }
    }

    /// The language of the frame. Default: that of most memories in it.
    pub fn language(mut self, language: PromptLanguage) -> Self {
        self.language = Some(language);
        self
    }

    /// Counts tokens as the model does. Default: an estimate, four letters or one CJK character a token.
    pub fn tokens(mut self, count: impl Fn(&str) -> usize + Send + Sync + 'static) -> Self {
        self.tokens = Some(Arc::new(count));
        self
    }
}

impl fmt::Debug for ContextOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContextOptions")
            .field("budget_tokens", &self.budget_tokens)
            .field("language", &self.language)
            .finish_non_exhaustive()
    }
}

/// Why a memory is not in a block as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Omission {
    /// It did not fit.
    Budget,
    /// It is in the block, cut.
    Shortened,
    /// It says what this one says, which is in the block.
    Duplicate(MemoryId),
    /// It may never be shown.
    Withheld,
}

/// Memories as a block for a prompt, within its budget.
///
/// Stored text is data, and the block says so: it stands between `<memories>` and `</memories>`, one line for each
/// memory, in which nothing stored can end the block, begin a line or forge a mark.
#[derive(Clone, PartialEq, Eq)]
pub struct Context {
    text: String,
    tokens: usize,
    used: Vec<(MemoryId, String)>,
    left_out: Vec<(MemoryId, Omission)>,
    pub(crate) trace: Option<TraceId>,
}

impl fmt::Debug for Context {
    /// Shows how much it is, never the block.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("tokens", &self.tokens)
            .field("used", &self.used)
            .field("left_out", &self.left_out)
            .finish_non_exhaustive()
    }
}

impl Context {
    /// The block; empty where nothing fits.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its tokens, by the budget's measure.
    pub fn tokens(&self) -> usize {
        self.tokens
    }

    /// The memories in it, in order, each with the handle that its line begins with: for
    /// [`User::used`](crate::User::used).
    pub fn used(&self) -> &[(MemoryId, String)] {
        &self.used
    }

    /// The trace that was kept, where the query asked for one and the user is known.
    pub fn trace(&self) -> Option<TraceId> {
        self.trace
    }

    /// What was found but is not in it as it is stored, and why.
    pub fn left_out(&self) -> &[(MemoryId, Omission)] {
        &self.left_out
    }
}

/// Packs pinned memories, then what was recalled.
pub(crate) fn context(
    pinned: &[Memory],
    recalled: &Recalled,
    now: Timestamp,
    options: &ContextOptions,
) -> Result<Context> {
    if options.budget_tokens == 0 {
        return Err(Error::invalid("budget_tokens: must be at least 1"));
    }
    let found = recalled.memories.iter().zip(&recalled.ranking.hits);
    let found = found.map(|(memory, hit)| Item {
        memory,
        core: false,
        score: hit.candidate.parts.score,
        conflict: hit.contradicted || memory.contradicted_count() > memory.confirmed_count(),
    });
    let core = pinned.iter().map(|memory| Item { memory, core: true, score: 0.0, conflict: false });
    let items: Vec<Item<'_>> = core.chain(found).collect();
    let language = options.language.map(|language| match language {
        PromptLanguage::English => Language::English,
        PromptLanguage::Chinese => Language::Chinese,
    });
    let tokens = options.tokens.as_ref().map(|count| &**count as &dyn Fn(&str) -> usize);
    let Block { text, tokens, used, left_out } =
        pack(&items, &Layout { budget: options.budget_tokens, now, language, tokens, likeness: None });
    let left_out = left_out.into_iter().map(|(id, why)| (id, omission(why))).collect();
    Ok(Context { text, tokens, used, left_out, trace: None })
}

fn omission(why: Reason) -> Omission {
    match why {
        Reason::Budget => Omission::Budget,
        Reason::Shortened => Omission::Shortened,
        Reason::Duplicate(of) => Omission::Duplicate(of),
        Reason::Withheld => Omission::Withheld,
    }
}
