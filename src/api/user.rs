use std::borrow::Borrow;
use std::io::{BufRead, Seek, Write};
use std::sync::Arc;

use crate::api::context::{self, Context, ContextOptions};
use crate::api::{Correction, Cursor, IdHit, ListOptions, MemoryPage, Query, Recall, Trace, TraceId, Update};
use crate::engine::{Ask, Change, Core, Exported, Filter, Forgotten, Imported, Ranking, UserStats, WhyNot};
use crate::error::{Error, Result};
use crate::memory::{Memory, MemoryId, NewMemory, Sensitivity, StatusKind, UserId};

/// Most pinned memories that go into a prompt.
const PINNED_MAX: usize = 64;

/// Handle for one user: every verb on memories needs one. Clones are cheap.
///
/// A handle sees memories up to its level, [`Personal`](Sensitivity::Personal) unless
/// [`with_level`](Self::with_level) says otherwise; what lies above is as good as absent.
#[derive(Clone)]
pub struct User {
    core: Arc<Core>,
    id: UserId,
    level: Sensitivity,
}

impl User {
    pub(crate) fn new(core: Arc<Core>, id: UserId) -> Self {
        Self { core, id, level: Sensitivity::Personal }
    }

    /// The same user, seen up to `level`.
    pub fn with_level(mut self, level: Sensitivity) -> Self {
        self.level = level;
        self
    }

    /// Whose handle it is.
    pub fn id(&self) -> &UserId {
        &self.id
    }

    /// The highest sensitivity that this handle sees.
    pub fn level(&self) -> Sensitivity {
        self.level
    }

    /// Stores a memory and returns its id.
    ///
    /// When this returns `Ok`, the memory is on disk (with [`Durability::Durable`](crate::Durability)), and every later
    /// recall sees it: new memories are compared exactly, so no index build stands between writing and finding.
    /// Storing the same id with the same content again changes nothing and is `Ok`. Where the embedder fails, the
    /// memory is stored without a vector, as *pending*.
    ///
    /// # Errors
    ///
    /// * [`Invalid`](crate::ErrorKind::Invalid): a field breaks a limit of [`limits`](crate::memory::limits), which
    ///   the message names, or the vector has the wrong length, a NaN, an infinity, or only zeros. Nothing was stored.
    /// * [`Conflict`](crate::ErrorKind::Conflict): the id is stored with other content.
    /// * [`Denied`](crate::ErrorKind::Denied): remembering is paused for this user, or the memory is an inference of
    ///   what the user had forgotten.
    /// * [`Io`](crate::ErrorKind::Io): the disk failed. The message says whether the memory is not committed or the
    ///   outcome is unknown; then open the store again and [`get`](Self::get) the id.
    ///
    /// # Cost
    ///
    /// One embedding and a share of one group commit. For many, use [`remember_all`](Self::remember_all).
    pub fn remember(&self, memory: NewMemory) -> Result<MemoryId> {
        let mut outcomes = self.core.remember_all(&self.id, vec![memory])?;
        outcomes.pop().unwrap_or_else(|| Err(Error::io("remember: no outcome")))
    }

    /// Stores many memories in one commit; each has its own outcome, in order.
    ///
    /// # Errors
    ///
    /// As a whole: [`Invalid`](crate::ErrorKind::Invalid) over [`BATCH_MAX`](crate::memory::limits::BATCH_MAX)
    /// memories, [`Denied`](crate::ErrorKind::Denied) while paused, [`Io`](crate::ErrorKind::Io). For each memory:
    /// those of [`remember`](Self::remember); the others are stored all the same.
    pub fn remember_all(&self, memories: impl IntoIterator<Item = NewMemory>) -> Result<Vec<Result<MemoryId>>> {
        self.core.remember_all(&self.id, memories.into_iter().collect())
    }

    /// The memory with this id.
    ///
    /// # Errors
    ///
    /// [`NotFound`](crate::ErrorKind::NotFound): there is none that this handle sees.
    pub fn get(&self, id: MemoryId) -> Result<Memory> {
        self.core.get(&self.id, id, self.level)
    }

    /// A page of memories in the order in which they were stored, with the count of all.
    ///
    /// # Errors
    ///
    /// [`Invalid`](crate::ErrorKind::Invalid): the filter makes no sense, or the limit is 0.
    pub fn list(&self, options: impl Borrow<ListOptions>) -> Result<MemoryPage> {
        let page = self.core.list(&self.id, &options.borrow().listing(self.level)?)?;
        let next = page.next.map(Cursor);
        Ok(MemoryPage { memories: page.memories, total: page.total, next, damaged: page.damaged })
    }

    /// Changes a memory in place and returns its new version. What was before stays in the [`history`](Self::history).
    ///
    /// A changed text gets a new vector in the same transaction, or none: the old meaning never remains.
    ///
    /// # Errors
    ///
    /// [`NotFound`](crate::ErrorKind::NotFound); [`Invalid`](crate::ErrorKind::Invalid): a field breaks a limit;
    /// [`Conflict`](crate::ErrorKind::Conflict): the version is not the expected one.
    pub fn update(&self, id: MemoryId, update: Update) -> Result<u32> {
        let before = if update.changes_text() { Some(self.get(id)?) } else { None };
        let (if_version, change) = update.prepare(&self.core, before)?;
        self.core.update(&self.id, id, self.level, if_version, change)
    }

    /// Stores a corrected memory that supersedes the one with this id; the old one stays in the history.
    ///
    /// # Errors
    ///
    /// [`NotFound`](crate::ErrorKind::NotFound); [`Invalid`](crate::ErrorKind::Invalid): a field breaks a limit;
    /// [`Conflict`](crate::ErrorKind::Conflict): it is superseded already.
    pub fn correct(&self, id: MemoryId, correction: Correction) -> Result<MemoryId> {
        let new = correction.apply_to(&self.get(id)?);
        self.core.correct(&self.id, id, self.level, new)
    }

    /// The user agreed: confidence rises by half of what it lacks, a candidate becomes active. Returns the version.
    ///
    /// # Errors
    ///
    /// [`NotFound`](crate::ErrorKind::NotFound).
    pub fn confirm(&self, id: MemoryId) -> Result<u32> {
        self.core.confirm(&self.id, id, self.level)
    }

    /// Something spoke against it: confidence halves. Returns the version.
    ///
    /// # Errors
    ///
    /// [`NotFound`](crate::ErrorKind::NotFound).
    pub fn contradict(&self, id: MemoryId) -> Result<u32> {
        self.core.contradict(&self.id, id, self.level)
    }

    /// Says which memories went into an answer: all are noted, or none. A recall by itself changes nothing.
    ///
    /// # Errors
    ///
    /// [`NotFound`](crate::ErrorKind::NotFound): one of them is unknown.
    pub fn used(&self, ids: impl IntoIterator<Item = MemoryId>) -> Result<()> {
        let ids: Vec<MemoryId> = ids.into_iter().collect();
        if ids.is_empty() { Ok(()) } else { self.core.used(&self.id, ids, self.level) }
    }

    /// The best memories for a query, by the whole formula, with their records.
    ///
    /// Exact: no memory outside the answer scores higher than one in it. Never writes.
    ///
    /// # Errors
    ///
    /// * [`Invalid`](crate::ErrorKind::Invalid): the query vector has the wrong length or no direction, the curve,
    ///   floor or filter makes no sense.
    /// * [`Unsupported`](crate::ErrorKind::Unsupported): a text query without an embedder, with one that failed, or
    ///   with one of another space than the stored vectors; the message names both models.
    /// * [`Busy`](crate::ErrorKind::Busy): the store's embedding model was being changed, or the user's memories changed
    ///   faster than they could be read. Try again.
    /// * [`Corrupt`](crate::ErrorKind::Corrupt): the user's values are not complete.
    ///
    /// # Cost
    ///
    /// A scan of the quantised vectors, less what a bound rules out, and a read for each hit. The first recall of a
    /// user reads the user's memories into the cache.
    pub fn recall(&self, query: impl Borrow<Query>) -> Result<Recall> {
        let ask = query.borrow().ask(self.level)?;
        let recalled = self.core.recall(&self.id, &ask)?;
        let trace = self.leave_trace(&ask, &recalled.ranking, None)?;
        let mut recall = Recall::new(&recalled.ranking, recalled.memories);
        recall.trace = trace;
        Ok(recall)
    }

    /// What a prompt should know for a query, within a budget of tokens: pinned memories first, then the best hits.
    ///
    /// Near-duplicates are dropped, each line has its time label and a short handle, conflicts are marked, what is to
    /// be withheld is never present. Says what it left out. Never over the budget, by the estimator given.
    ///
    /// # Errors
    ///
    /// Those of [`recall`](Self::recall); [`Invalid`](crate::ErrorKind::Invalid): a budget of 0.
    pub fn context(&self, query: impl Borrow<Query>, options: &ContextOptions) -> Result<Context> {
        let ask = query.borrow().ask(self.level)?;
        let pinned = self.pinned(&ask)?;
        let recalled = self.core.recall(&self.id, &ask)?;
        let now = ask.at.or(ask.as_of).unwrap_or_else(|| self.core.now());
        let mut context = context::context(&pinned, &recalled, now, options)?;
        let known = |id: &MemoryId| pinned.iter().chain(&recalled.memories).find(|memory| memory.id() == *id);
        let used: Vec<_> = context.used().iter().filter_map(|(id, _)| Some((*id, known(id)?.version()))).collect();
        context.trace = self.leave_trace(&ask, &recalled.ranking, Some(&used))?;
        Ok(context)
    }

    /// What goes into every prompt block of this query.
    fn pinned(&self, ask: &Ask) -> Result<Vec<Memory>> {
        let pinned = ListOptions::new().filter(Filter::pinned(true));
        let Some(then) = ask.as_of else {
            let active = pinned.limit(PINNED_MAX).statuses([StatusKind::Active]);
            return Ok(self.core.list(&self.id, &active.listing(ask.level)?)?.memories);
        };
        let mut all = self.core.list(&self.id, &pinned.limit(usize::MAX).listing(ask.level)?)?.memories;
        all.retain(|memory| memory.stood(then));
        all.truncate(PINNED_MAX);
        Ok(all)
    }

    fn leave_trace(&self, ask: &Ask, ranking: &Ranking, used: Option<&[(MemoryId, u32)]>) -> Result<Option<TraceId>> {
        if !ask.trace {
            return Ok(None);
        }
        Ok(self.core.leave_trace(&self.id, ask, ranking, used)?.map(TraceId))
    }

    /// What a traced recall or context used, as far as this handle sees it.
    ///
    /// # Errors
    ///
    /// [`NotFound`](crate::ErrorKind::NotFound): there is no such trace, it was made above this handle's level, or
    /// [`TRACES_MAX`](crate::memory::limits::TRACES_MAX) newer ones have taken its place.
    pub fn trace(&self, id: TraceId) -> Result<Trace> {
        Ok(Trace::of(&self.core.trace(&self.id, id.0, self.level)?))
    }

    /// The same as a recall, without reading the records: ids and scores, and all that a recall tells beside its hits.
    ///
    /// # Errors
    ///
    /// Those of [`recall`](Self::recall).
    pub fn recall_ids(&self, query: impl Borrow<Query>) -> Result<Recall<IdHit>> {
        let ask = query.borrow().ask(self.level)?;
        if ask.trace {
            return Err(Error::unsupported("trace: recall_ids keeps none; use recall"));
        }
        Ok(Recall::ids(&self.core.recall_ids(&self.id, &ask)?))
    }

    /// The first gate that keeps a memory from being a hit of this query, or its rank.
    ///
    /// # Errors
    ///
    /// Those of [`recall`](Self::recall).
    pub fn why_not(&self, id: MemoryId, query: impl Borrow<Query>) -> Result<WhyNot> {
        self.core.why_not(&self.id, id, self.level, &query.borrow().ask(self.level)?)
    }

    /// Forgets a memory: it is gone from every answer and every file when this returns.
    ///
    /// Memories that were made of it alone go too; others lose the reference. Its bytes remain on the disk under keys
    /// that no longer exist, until they are overwritten.
    ///
    /// # Errors
    ///
    /// [`NotFound`](crate::ErrorKind::NotFound): there is none that this handle sees. [`Io`](crate::ErrorKind::Io): the
    /// disk failed; open the store again and look.
    ///
    /// # Cost
    ///
    /// Five syncs; up to 256 memories beside it are sealed again, and 64 bytes for each 256 memories of the user. In each
    /// [snapshot](crate::Store::snapshot) that has the user two syncs more, and the keys of the user's memories.
    pub fn forget(&self, id: MemoryId) -> Result<Forgotten> {
        self.core.forget(&self.id, id, self.level)
    }

    /// Gives the user a new key: what an older copy of the KEYRING holds opens nothing that is written from now on.
    ///
    /// The chunk keys below it are sealed again under the new key, as after a forgetting; nothing is removed, and values
    /// stay as they are. Returns how many snapshots lost the user because their keys could not be written.
    ///
    /// # Errors
    ///
    /// [`NotFound`](crate::ErrorKind::NotFound): nothing is stored for this user. [`Io`](crate::ErrorKind::Io): the disk
    /// failed; the old key or the new one is in force, never none.
    ///
    /// # Cost
    ///
    /// Five syncs, and 64 bytes for each 256 memories; in each snapshot two syncs and the keys of the user's memories.
    pub fn rotate_keys(&self) -> Result<u32> {
        self.core.rotate_user(&self.id)
    }

    /// What was done to a memory, oldest first. An [upkeep](crate::Store::maintain) ends it after 30 days.
    ///
    /// # Errors
    ///
    /// [`NotFound`](crate::ErrorKind::NotFound): there is none that this handle sees.
    pub fn history(&self, id: MemoryId) -> Result<Vec<Change>> {
        self.core.history(&self.id, id, self.level)
    }

    /// Writes every memory that this handle sees, one line of JSON each and with all that is known of it, and behind
    /// them a line that lets the store know its own export again. [`import`](Self::import) reads it.
    ///
    /// The lines are canonical: the same memories give the same bytes, from any store; only the last line differs. It
    /// is no secret and no backup of the keys: whoever has the file reads the texts. History is not in it.
    ///
    /// ```
    /// use mnemic::{Store, memory::NewMemory};
    ///
    /// # fn main() -> mnemic::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// let store = Store::open(dir.path().join("memory"))?;
    /// store.user("ada")?.remember(NewMemory::note("Met the wombat"))?;
    /// let mut file = Vec::new();
    /// assert_eq!(store.user("ada")?.export(&mut file)?.memories, 1);
    /// let other = Store::open(dir.path().join("other"))?;
    /// assert_eq!(other.user("ada")?.import(&mut std::io::Cursor::new(&file))?.stored, 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`NotFound`](crate::ErrorKind::NotFound): nothing is stored for this user.
    /// * [`Io`](crate::ErrorKind::Io): `out` failed; what it has is not complete and will be refused.
    ///
    /// Damage does not stop it: [`Exported::damaged`] names what is not in it.
    ///
    /// # Cost
    ///
    /// A read of each record and vector, as of one moment; the shard's file grows by what is written meanwhile.
    pub fn export(&self, out: &mut dyn Write) -> Result<Exported> {
        self.core.export(&self.id, self.level, out)
    }

    /// Stores the memories of an [`export`](Self::export), exactly as they were.
    ///
    /// The whole file is checked before anything is stored. Then it goes in by commits of up to 1,000 lines: after a
    /// crash or an error the same call goes on where it stood, and counts what is there already as
    /// [`unchanged`](Imported::unchanged). What the user had forgotten since the export does not come back, nor
    /// references to it; in another store, or for another user, nothing does that was ever forgotten there. Vectors of
    /// another model than the store's are left out, and the memories are pending.
    ///
    /// # Errors
    ///
    /// * [`Invalid`](crate::ErrorKind::Invalid): the export was changed or cut, or is none. Nothing was stored.
    /// * [`Denied`](crate::ErrorKind::Denied): remembering is paused for this user.
    /// * [`Io`](crate::ErrorKind::Io): the input or the disk failed. Call it again.
    ///
    /// # Cost
    ///
    /// Two passes over the input, and a commit for each 1,000 lines.
    pub fn import<R: BufRead + Seek>(&self, input: &mut R) -> Result<Imported> {
        self.core.import(&self.id, input)
    }

    /// Stops remembering for this user, until [`resume`](Self::resume). Everything else goes on.
    ///
    /// # Errors
    ///
    /// [`Io`](crate::ErrorKind::Io): the disk failed.
    pub fn pause(&self) -> Result<()> {
        self.core.set_paused(&self.id, true)
    }

    /// Remembers again.
    ///
    /// # Errors
    ///
    /// [`Io`](crate::ErrorKind::Io): the disk failed.
    pub fn resume(&self) -> Result<()> {
        self.core.set_paused(&self.id, false)
    }

    /// Counts of the memories that this handle sees.
    ///
    /// # Errors
    ///
    /// [`Corrupt`](crate::ErrorKind::Corrupt), [`Io`](crate::ErrorKind::Io): they can't be read.
    pub fn stats(&self) -> Result<UserStats> {
        self.core.user_stats(&self.id, self.level)
    }
}

impl std::fmt::Debug for User {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("User").field("id", &self.id).field("level", &self.level).finish_non_exhaustive()
    }
}
