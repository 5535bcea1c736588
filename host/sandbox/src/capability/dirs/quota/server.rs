//! The parent's side of accounting for a process with guests. The process is not trusted: its requests may be anything.

use std::{collections::HashMap, fs::File, io, sync::Arc, time::Instant};

use super::{
    counter::{Counter, usage_below},
    messages::{QuotaRequest, QuotaResponse},
    usage::Inode,
};
use crate::{
    attempt_context::AttemptContext,
    capability::dirs::{
        grant::DirGrant,
        host_dir::{HostDir, HostDirs},
    },
};

/// Accounting for one call.
pub(crate) struct QuotaServer {
    attempt: Arc<AttemptContext>,
    grants: Vec<DirGrant>,
    host_dirs: Arc<HostDirs>,
    began: Instant,
    opened_dirs: HashMap<u32, Arc<HostDir>>,
    /// Number of times that the process has each file open.
    open: HashMap<(u32, Inode), u32>,
}

impl QuotaServer {
    pub(in crate::capability::dirs) fn new(
        host_dirs: &Arc<HostDirs>,
        grants: Vec<DirGrant>,
        attempt: &Arc<AttemptContext>,
    ) -> Self {
        Self {
            attempt: Arc::clone(attempt),
            grants,
            host_dirs: Arc::clone(host_dirs),
            began: Instant::now(),
            opened_dirs: HashMap::new(),
            open: HashMap::new(),
        }
    }

    /// Applies a request, and returns the response if it has one.
    ///
    /// # Errors
    /// Fails when no guest could cause the request.
    pub(crate) async fn receive(&mut self, request: QuotaRequest) -> io::Result<Option<QuotaResponse>> {
        match request {
            QuotaRequest::Count(grant) => Ok(Some(match self.count(grant).await? {
                Ok(()) => QuotaResponse::Done,
                Err(error) => QuotaResponse::Failed(error.to_string()),
            })),
            QuotaRequest::Take(grant, more) => {
                let quota = self.grant(grant)?.quota;
                let host_dir = self.opened_dirs.get(&grant).ok_or_else(invalid_request)?;
                Ok(Some(
                    host_dir
                        .counter
                        .take(&quota, more)
                        .map_or_else(QuotaResponse::OverQuota, |()| QuotaResponse::Done),
                ))
            }
            QuotaRequest::Give(grant, less) => self.write(grant, |counter| counter.give(less)).await,
            QuotaRequest::Removed(grant, gone) => self.write(grant, |counter| counter.removed(gone)).await,
            QuotaRequest::Opened(grant, inode) => {
                // A guest cannot have more of them open either.
                if self.open.len() >= self.attempt.limits.resources as usize {
                    return Err(invalid_request());
                }
                *self.open.entry((grant, inode)).or_default() += 1;
                self.write(grant, |counter| counter.opened(inode)).await
            }
            QuotaRequest::Closed(grant, inode, size) => {
                let times = self.open.get_mut(&(grant, inode)).ok_or_else(invalid_request)?;
                *times -= 1;
                if *times == 0 {
                    self.open.remove(&(grant, inode));
                }
                self.write(grant, |counter| counter.closed(inode, || size)).await
            }
        }
    }

    fn grant(&self, grant: u32) -> io::Result<&DirGrant> {
        let grant = self.grants.get(grant as usize);
        grant.filter(|grant| !grant.quota.is_none()).ok_or_else(invalid_request)
    }

    /// Applies a request without a response. Nothing is kept about a directory that is gone by now.
    async fn write(&mut self, grant: u32, write: impl FnOnce(&Counter)) -> io::Result<Option<QuotaResponse>> {
        if !self.opened_dirs.contains_key(&grant) {
            drop(self.open(grant).await?);
        }
        if let Some(host_dir) = self.opened_dirs.get(&grant) {
            write(&host_dir.counter);
        }
        Ok(None)
    }

    async fn open(&mut self, grant: u32) -> io::Result<io::Result<(Arc<HostDir>, File)>> {
        let host = self.grant(grant)?.host.clone();
        let opened = self.host_dirs.open(&host).await;
        if let Ok((host_dir, _)) = &opened {
            self.opened_dirs.insert(grant, Arc::clone(host_dir));
        }
        Ok(opened)
    }

    async fn count(&mut self, grant: u32) -> io::Result<io::Result<()>> {
        let quota = self.grant(grant)?.quota;
        Ok(match self.open(grant).await? {
            Ok((host_dir, _)) if host_dir.counter.is_counted(&quota, self.began) => Ok(()),
            Ok((host_dir, file)) => counted(&host_dir, file).await,
            Err(error) => Err(error),
        })
    }
}

async fn counted(host_dir: &HostDir, file: File) -> io::Result<()> {
    let found = host_dir.run_blocking(move || usage_below(&file)).await?;
    host_dir.counter.begin(found);
    Ok(())
}

fn invalid_request() -> io::Error {
    io::Error::other("it names directories in a way that no guest can")
}

impl Drop for QuotaServer {
    /// A process that ended amid a change did not report the result, so that its directories are counted anew.
    fn drop(&mut self) {
        for ((grant, inode), times) in &self.open {
            let Some(host_dir) = self.opened_dirs.get(grant) else { continue };
            (0..*times).for_each(|_| host_dir.counter.closed(*inode, || 0));
            host_dir.counter.forget();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use cap_primitives::fs::Metadata;

    use super::*;
    use crate::{
        capability::dirs::quota::usage::{Quota, Removal, Usage, inode},
        limits::Limits,
    };

    fn server(dir: &std::path::Path, opened_dirs: &Arc<HostDirs>) -> QuotaServer {
        let quota = Quota { bytes: Some(10), files: None };
        let counted = DirGrant { quota, ..DirGrant::read_write(dir, "/data") };
        let dirs = vec![counted, DirGrant::read_write(dir, "/other")];
        let limits = Limits { resources: 2, ..Limits::default() };
        QuotaServer::new(opened_dirs, dirs, &AttemptContext::for_tests(limits))
    }

    /// R-I27: a process whose requests no guest could cause is cut off.
    #[tokio::test]
    async fn requests_that_no_guest_could_cause_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let sequences = [
            vec![QuotaRequest::Count(1)],
            vec![QuotaRequest::Count(2)],
            vec![QuotaRequest::Take(0, Usage::bytes(1))],
            vec![QuotaRequest::Closed(0, (1, 1), u64::MAX)],
            vec![
                QuotaRequest::Opened(0, (1, 1)),
                QuotaRequest::Opened(0, (1, 2)),
                QuotaRequest::Opened(0, (1, 3)),
            ],
        ];
        for mut requests in sequences {
            let mut server = server(dir.path(), &Arc::default());
            let last = requests.pop().unwrap();
            for request in requests {
                assert!(server.receive(request).await.is_ok());
            }
            assert!(server.receive(last).await.is_err());
        }
    }

    /// R-I19, R-I27: if a process ends with a deleted file open, the directory is counted anew.
    #[tokio::test]
    async fn leftovers_of_a_process_are_counted_anew() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a"), "12345").unwrap();
        let metadata = Metadata::from_file(&File::open(dir.path().join("a")).unwrap()).unwrap();
        let opened_dirs = Arc::default();
        let mut first = server(dir.path(), &opened_dirs);
        let inode = inode(&metadata);
        for request in [
            QuotaRequest::Opened(0, inode),
            QuotaRequest::Count(0),
            QuotaRequest::Removed(0, Removal::of(&metadata)),
        ] {
            assert!(first.receive(request).await.is_ok());
        }
        fs::remove_file(dir.path().join("a")).unwrap();
        let is_full = |answer: io::Result<Option<QuotaResponse>>| {
            matches!(answer, Ok(Some(QuotaResponse::OverQuota(_))))
        };
        assert!(
            is_full(first.receive(QuotaRequest::Take(0, Usage::bytes(6))).await),
            "the bytes are still there"
        );
        drop(first);
        let mut next = server(dir.path(), &opened_dirs);
        assert!(next.receive(QuotaRequest::Count(0)).await.is_ok());
        assert!(!is_full(next.receive(QuotaRequest::Take(0, Usage::bytes(10))).await));
    }
}
