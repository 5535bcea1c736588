//! The side of whoever keeps the books for a process of its own. What that process says may be anything.

use std::{collections::HashMap, fs::File, io, sync::Arc, time::Instant};

use serde::{Deserialize, Serialize};

use crate::{
    attempt_context::AttemptContext,
    capability::dirs::{
        grant::DirGrant,
        ledger::{Full, Gone, Inode, Ledger, Usage, usage},
        place::{Place, Places},
    },
};

/// What a process has to say of a grant, by its place among those of the plugin.
#[derive(Serialize, Deserialize)]
pub(crate) enum Entry {
    /// It is about to change something: what lies there has to be known. Answered.
    Count(u32),
    /// It wants to add so much. Answered.
    Take(u32, Usage),
    /// So much is there no longer.
    Give(u32, Usage),
    Opened(u32, Inode),
    /// With the file's size.
    Closed(u32, Inode, u64),
    Removed(u32, Gone),
}

#[derive(Serialize, Deserialize)]
pub(crate) enum Answer {
    Done,
    Full(Full),
    Failed(String),
}

/// Keeps the books of one call.
pub(crate) struct Clerk {
    attempt: Arc<AttemptContext>,
    grants: Vec<DirGrant>,
    all_places: Arc<Places>,
    began: Instant,
    places: HashMap<u32, Arc<Place>>,
    /// What the process has open, so often.
    open: HashMap<(u32, Inode), u32>,
}

impl Clerk {
    pub(in crate::capability::dirs) fn new(
        all_places: &Arc<Places>,
        grants: Vec<DirGrant>,
        attempt: &Arc<AttemptContext>,
    ) -> Self {
        Self {
            attempt: Arc::clone(attempt),
            grants,
            all_places: Arc::clone(all_places),
            began: Instant::now(),
            places: HashMap::new(),
            open: HashMap::new(),
        }
    }

    /// Enters it; the answer, if there is one.
    ///
    /// # Errors
    /// When no process says that which is what it should be.
    pub(crate) async fn hear(&mut self, entry: Entry) -> io::Result<Option<Answer>> {
        match entry {
            Entry::Count(grant) => Ok(Some(match self.count(grant).await? {
                Ok(()) => Answer::Done,
                Err(error) => Answer::Failed(error.to_string()),
            })),
            Entry::Take(grant, more) => {
                let quota = self.grant(grant)?.quota;
                let place = self.places.get(&grant).ok_or_else(unasked)?;
                Ok(Some(place.ledger.take(&quota, more).map_or_else(Answer::Full, |()| Answer::Done)))
            }
            Entry::Give(grant, less) => self.write(grant, |ledger| ledger.give(less)).await,
            Entry::Removed(grant, gone) => self.write(grant, |ledger| ledger.removed(gone)).await,
            Entry::Opened(grant, inode) => {
                // A guest has no more of them either.
                if self.open.len() >= self.attempt.limits.resources as usize {
                    return Err(unasked());
                }
                *self.open.entry((grant, inode)).or_default() += 1;
                self.write(grant, |ledger| ledger.opened(inode)).await
            }
            Entry::Closed(grant, inode, size) => {
                let times = self.open.get_mut(&(grant, inode)).ok_or_else(unasked)?;
                *times -= 1;
                if *times == 0 {
                    self.open.remove(&(grant, inode));
                }
                self.write(grant, |ledger| ledger.closed(inode, || size)).await
            }
        }
    }

    fn grant(&self, grant: u32) -> io::Result<&DirGrant> {
        let grant = self.grants.get(grant as usize);
        grant.filter(|grant| !grant.quota.is_none()).ok_or_else(unasked)
    }

    /// Writes what is not answered. Of a directory that is gone by now nothing is kept.
    async fn write(&mut self, grant: u32, write: impl FnOnce(&Ledger)) -> io::Result<Option<Answer>> {
        if !self.places.contains_key(&grant) {
            drop(self.open(grant).await?);
        }
        if let Some(place) = self.places.get(&grant) {
            write(&place.ledger);
        }
        Ok(None)
    }

    async fn open(&mut self, grant: u32) -> io::Result<io::Result<(Arc<Place>, File)>> {
        let host = self.grant(grant)?.host.clone();
        let opened = self.all_places.open(&host).await;
        if let Ok((place, _)) = &opened {
            self.places.insert(grant, Arc::clone(place));
        }
        Ok(opened)
    }

    async fn count(&mut self, grant: u32) -> io::Result<io::Result<()>> {
        let quota = self.grant(grant)?.quota;
        Ok(match self.open(grant).await? {
            Ok((place, _)) if place.ledger.is_counted(&quota, self.began) => Ok(()),
            Ok((place, file)) => counted(&place, file).await,
            Err(error) => Err(error),
        })
    }
}

async fn counted(place: &Place, file: File) -> io::Result<()> {
    let found = place.elsewhere(move || usage(&file)).await?;
    place.ledger.begin(found);
    Ok(())
}

fn unasked() -> io::Error {
    io::Error::other("it speaks of directories as no guest can")
}

impl Drop for Clerk {
    /// Who ended amid something did not say what became of it: it is counted anew.
    fn drop(&mut self) {
        for ((grant, inode), times) in &self.open {
            let Some(place) = self.places.get(grant) else { continue };
            (0..*times).for_each(|_| place.ledger.closed(*inode, || 0));
            place.ledger.forget();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use cap_primitives::fs::Metadata;

    use super::*;
    use crate::{capability::dirs::ledger::Quota, limits::Limits};

    fn clerk(dir: &std::path::Path, places: &Arc<Places>) -> Clerk {
        let quota = Quota { bytes: Some(10), files: None };
        let counted = DirGrant { quota, ..DirGrant::read_write(dir, "/data") };
        let dirs = vec![counted, DirGrant::read_write(dir, "/other")];
        let limits = Limits { resources: 2, ..Limits::default() };
        Clerk::new(places, dirs, &AttemptContext::for_tests(limits))
    }

    /// R-I27: whoever says of directories what no guest can do there is not heard any longer.
    #[tokio::test]
    async fn nobody_enters_what_no_guest_can_do() {
        let dir = tempfile::tempdir().unwrap();
        let entries = [
            vec![Entry::Count(1)],
            vec![Entry::Count(2)],
            vec![Entry::Take(0, Usage::bytes(1))],
            vec![Entry::Closed(0, (1, 1), u64::MAX)],
            vec![Entry::Opened(0, (1, 1)), Entry::Opened(0, (1, 2)), Entry::Opened(0, (1, 3))],
        ];
        for mut entries in entries {
            let mut clerk = clerk(dir.path(), &Arc::default());
            let last = entries.pop().unwrap();
            for entry in entries {
                assert!(clerk.hear(entry).await.is_ok());
            }
            assert!(clerk.hear(last).await.is_err());
        }
    }

    /// R-I19, R-I27: who ends while it has a file open that it deleted leaves its bytes to be counted anew.
    #[tokio::test]
    async fn what_somebody_leaves_behind_is_counted_anew() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a"), "12345").unwrap();
        let metadata = Metadata::from_file(&File::open(dir.path().join("a")).unwrap()).unwrap();
        let places = Arc::default();
        let mut first = clerk(dir.path(), &places);
        let inode = crate::capability::dirs::ledger::inode(&metadata);
        for entry in [Entry::Opened(0, inode), Entry::Count(0), Entry::Removed(0, Gone::of(&metadata))] {
            assert!(first.hear(entry).await.is_ok());
        }
        fs::remove_file(dir.path().join("a")).unwrap();
        let is_full = |answer: io::Result<Option<Answer>>| matches!(answer, Ok(Some(Answer::Full(_))));
        assert!(is_full(first.hear(Entry::Take(0, Usage::bytes(6))).await), "the bytes are still there");
        drop(first);
        let mut next = clerk(dir.path(), &places);
        assert!(next.hear(Entry::Count(0)).await.is_ok());
        assert!(!is_full(next.hear(Entry::Take(0, Usage::bytes(10))).await));
    }
}
