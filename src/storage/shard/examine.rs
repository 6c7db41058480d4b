//! A look at a shard's file as it lies on the disk, by a handle that changes nothing.

use std::path::Path;
use std::sync::Arc;

use super::open::Pages;
use super::overlay::{Overlay, PastEnd};
use super::{Open, check_users, path_of, standing_of};
use crate::error::{Error, ErrorKind, Result};
use crate::storage::ReadView;
use crate::world::{File, OpenMode, World, file_error, retry_interrupted};

/// What a shard's file is found to be.
pub(crate) struct Look {
    /// The values that can be reached; `None` where the file can't be read at all.
    pub(crate) view: Option<ReadView>,
    /// Its last commit, where it says so.
    pub(crate) last_seq: Option<u64>,
    /// What is wrong with its pages.
    pub(crate) damaged: Vec<Error>,
}

impl Look {
    /// Reads and verifies every page in use. Nothing may be committed meanwhile.
    ///
    /// # Errors
    ///
    /// `Io`: the disk failed. Damage is no error here.
    pub(crate) fn at(world: &World, shards: &Path, store_id: [u8; 16], number: u32) -> Result<Self> {
        let mut look = Self { view: None, last_seq: None, damaged: Vec::new() };
        let path = path_of(shards, number);
        let file: Arc<dyn File> = match retry_interrupted(|| world.fs().open(&path, OpenMode::Read)) {
            Ok(file) => file.into(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                look.damaged.push(Error::corrupt(format!("shard {number:02}: the file is missing")));
                return Ok(look);
            }
            Err(error) => return Err(file_error("open", &path, error)),
        };
        for pages in [Pages::Checked, Pages::Trusted] {
            let seen = open_over(&file, number, pages).and_then(|open| {
                let view = Open::read(&Arc::new(open))?;
                let standing = standing_of(&view, store_id, number)?;
                look.last_seq = Some(standing.seq);
                let complete = check_users(&standing, &view);
                Ok((view, complete))
            });
            match seen {
                Ok((view, complete)) => {
                    look.view = Some(view);
                    look.note(complete.map(drop))?;
                    break;
                }
                Err(error) => look.note(Err(error))?,
            }
        }
        Ok(look)
    }

    fn note(&mut self, outcome: Result<()>) -> Result<()> {
        match outcome {
            Err(error) if error.kind() == ErrorKind::Io => Err(error),
            Err(error) => {
                if !self.damaged.iter().any(|known| known.message() == error.message()) {
                    self.damaged.push(error);
                }
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }
}

fn open_over(file: &Arc<dyn File>, number: u32, pages: Pages) -> Result<Open> {
    let failed = |error| Error::io(format!("shard {number:02}: cannot read its file")).with_source(error);
    let past_end = if pages == Pages::Checked { PastEnd::Error } else { PastEnd::Zeros };
    let overlay = Overlay::new(Arc::clone(file), past_end).map_err(failed)?;
    if redb::StorageBackend::len(&overlay).map_err(failed)? == 0 {
        return Err(Error::corrupt(format!("shard {number:02}: the file is empty")));
    }
    Open::over(number, Arc::clone(file), overlay, pages)
}

/// Verifies every page in use.
pub(super) fn check(file: &Arc<dyn File>, number: u32) -> Result<()> {
    open_over(file, number, Pages::Checked).map(drop)
}
