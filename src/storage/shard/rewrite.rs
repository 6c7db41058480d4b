//! A shard's live values in a fresh file: what redb freed goes back to the file system.

use std::path::Path;
use std::sync::Arc;

use super::{Open, Shard};
use crate::error::{Error, Result};
use crate::storage::ReadView;
use crate::world::{File, OpenMode, file_error, is_same_file, retry_interrupted};

impl Shard {
    /// Copies the shard into a fresh file that takes its name, whole or not at all. Nothing may be committed meanwhile;
    /// who reads the old file reads on.
    ///
    /// # Errors
    ///
    /// The old file is in place and in use, but where the new one's name could not be made durable: then the shard is
    /// closed, and opening the store again puts it right.
    pub(crate) fn rewrite(&self) -> Result<()> {
        let temporary = self.path.with_extension("redb.tmp");
        let done = self.copy_to(&temporary).and_then(|fresh| self.put_in_place(&temporary, fresh));
        if done.is_err() {
            let _ = self.world.fs().remove_file(&temporary);
        }
        done
    }

    fn copy_to(&self, temporary: &Path) -> Result<Arc<Open>> {
        let view = self.read()?;
        let failed = |error| file_error("write", temporary, error);
        let _ = self.world.fs().remove_file(temporary);
        let file: Arc<dyn File> =
            retry_interrupted(|| self.world.fs().open(temporary, OpenMode::CreateNewPrivate)).map_err(failed)?.into();
        let open = Open::new(self.number, Arc::clone(&file))?;
        open.take_over(&view)?;
        // Closing cuts off the room that redb took in advance; opening shows that the file can be opened.
        open.shut()?;
        retry_interrupted(|| file.sync_all()).map_err(failed)?;
        let fresh = Arc::new(Open::new(self.number, file)?);
        self.check_copy(&view, &Open::read(&fresh)?)?;
        Ok(fresh)
    }

    fn check_copy(&self, old: &ReadView, fresh: &ReadView) -> Result<()> {
        if self.seq_in(old)? == self.seq_in(fresh)? {
            return Ok(());
        }
        Err(Error::io(format!("shard {:02}: its copy is not of the same commit", self.number)))
    }

    fn put_in_place(&self, temporary: &Path, fresh: Arc<Open>) -> Result<()> {
        let mut open = self.open.write();
        let old = open.as_ref().ok_or_else(|| self.closed())?;
        if !is_same_file(self.world.fs(), &self.path, old.file.as_ref())? {
            return Err(Error::io(format!("shard {:02}: its file was removed or replaced", self.number)));
        }
        let renamed = retry_interrupted(|| self.world.fs().rename(temporary, &self.path));
        renamed.map_err(|error| file_error("rename", temporary, error))?;
        old.leave_at_end();
        *open = Some(fresh);
        sabotage!(33, return Ok(()));
        let shards = self.path.parent().unwrap_or(Path::new("."));
        retry_interrupted(|| self.world.fs().sync_dir(shards)).map_err(|error| {
            // Which file has the name after a power cut is unknown: nothing may be written to either.
            *open = None;
            file_error("sync", shards, error)
        })
    }
}
