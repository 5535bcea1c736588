//! Opening files and directories, and nothing else that has a name there.

use std::{fs::File as StdFile, io, path::Path, sync::Arc};

use cap_primitives::fs::{FollowSymlinks, Metadata, MetadataExt as _, OpenOptions, open, stat};
use wasmtime_wasi::p2::bindings::filesystem::types::{DescriptorFlags, ErrorCode, OpenFlags, PathFlags};

use super::{
    error_code::code_of,
    handle::{Dir, File, Handle, Open, Root},
    quota::usage::{OverQuota, Usage, inode},
};
use crate::shared_budget::BudgetError;

/// Maximum length of a path, in bytes; no system takes longer ones.
const MAX_PATH_BYTES: usize = 4096;

/// Reason of a refusal.
#[derive(Debug)]
pub(super) enum Refusal {
    /// Error code for the guest.
    Code(ErrorCode),
    /// Error code for the guest, and the reason for the operator.
    Reason(ErrorCode, String),
    /// No descriptor is free.
    Exhausted(BudgetError),
}

impl From<ErrorCode> for Refusal {
    fn from(code: ErrorCode) -> Self {
        Self::Code(code)
    }
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Code(code_of(&error))
    }
}

impl Dir {
    /// Returns a refusal that names `path` as the guest knows it.
    pub(super) fn refusal(&self, code: ErrorCode, path: &str, why: &str) -> Refusal {
        let path: String = path.chars().take(80).collect();
        Refusal::Reason(code, format!("`{}/{}` {why}", self.name, path.escape_debug()))
    }

    /// Returns the refusal for a path where another kind of file lies.
    pub(super) fn other_kind(&self, path: &str) -> Refusal {
        self.refusal(ErrorCode::NotPermitted, path, "is neither a file nor a directory")
    }

    /// Returns the refusal for a quota without room.
    pub(super) fn full(&self, full: OverQuota) -> Refusal {
        Refusal::Reason(ErrorCode::Quota, format!("{full} of `{}`", self.name))
    }
}

impl From<BudgetError> for Refusal {
    fn from(exhausted: BudgetError) -> Self {
        Self::Exhausted(exhausted)
    }
}

/// Options with which a guest opens a path.
#[derive(Clone, Copy)]
pub(super) struct OpenMode {
    follow: FollowSymlinks,
    creates: bool,
    exclusive: bool,
    truncates: bool,
    directory: bool,
    reads: bool,
    writes: bool,
}

impl OpenMode {
    pub(super) fn of(path: PathFlags, open: OpenFlags, flags: DescriptorFlags) -> Result<Self, ErrorCode> {
        let syncs = DescriptorFlags::FILE_INTEGRITY_SYNC
            | DescriptorFlags::DATA_INTEGRITY_SYNC
            | DescriptorFlags::REQUESTED_WRITE_SYNC;
        if flags.intersects(syncs) {
            return Err(ErrorCode::Unsupported);
        }
        let creates = open.contains(OpenFlags::CREATE);
        let (exclusive, truncates) =
            (open.contains(OpenFlags::EXCLUSIVE), open.contains(OpenFlags::TRUNCATE));
        let directory = open.contains(OpenFlags::DIRECTORY);
        if directory && (creates || exclusive || truncates) {
            return Err(ErrorCode::Invalid);
        }
        let writes = flags.contains(DescriptorFlags::WRITE);
        let reads = flags.contains(DescriptorFlags::READ) || !writes;
        let writes = writes || creates || truncates;
        Ok(Self { follow: follow(path), creates, exclusive, truncates, directory, reads, writes })
    }

    fn options(self) -> OpenOptions {
        let mut options = OpenOptions::new();
        options.read(self.reads).write(self.writes).truncate(self.truncates);
        options.create(self.creates && !self.exclusive).create_new(self.creates && self.exclusive);
        // If another kind of file lies there by then, opening it does not block.
        options._cap_fs_ext_follow(self.follow)._cap_fs_ext_nonblock(true);
        options
    }
}

pub(super) fn follow(flags: PathFlags) -> FollowSymlinks {
    FollowSymlinks::follow(flags.contains(PathFlags::SYMLINK_FOLLOW))
}

pub(super) fn check_path(path: &str) -> Result<(), ErrorCode> {
    if path.len() > MAX_PATH_BYTES { Err(ErrorCode::NameTooLong) } else { Ok(()) }
}

/// Result of looking a path up to open it.
enum Lookup {
    File(StdFile, Metadata),
    Dir(StdFile),
    /// Another kind of file.
    Other,
    OverQuota(OverQuota),
}

/// Opens `path` in `dir`; `granted` is the grant's own directory.
pub(super) async fn open_at(
    dir: &Dir,
    granted: &Arc<Handle>,
    path: String,
    mode: OpenMode,
) -> Result<Open, Refusal> {
    check_path(&path)?;
    let root = &dir.handle.root;
    if mode.writes {
        dir.writable()?;
        dir.handle.count(granted).await?;
    }
    let permit = root.lease.take()?;
    let (of, at) = (Arc::clone(root), path.clone());
    let found = dir.handle.run(move |from| find(from, Path::new(&at), mode, &of)).await?;
    match found {
        Lookup::Dir(file) => {
            let name = format!("{}/{path}", dir.name).into();
            Ok(Open::Dir(Dir { handle: Handle::new(file, Arc::clone(root), permit, None), name }))
        }
        Lookup::File(..) if mode.directory => Err(ErrorCode::NotDirectory.into()),
        Lookup::File(file, metadata) => {
            let counted = (!root.quota.is_none()).then(|| inode(&metadata));
            let handle = Handle::new(file, Arc::clone(root), permit, counted);
            Ok(Open::File(File { handle, reads: mode.reads, writes: mode.writes }))
        }
        Lookup::Other => Err(dir.other_kind(&path)),
        Lookup::OverQuota(full) => Err(dir.full(full)),
    }
}

/// Opens the file or directory at `path` if there is one; none if another kind of file lies there.
pub(super) fn find_existing(
    from: &StdFile,
    path: &Path,
    follow: FollowSymlinks,
    root: &Root,
) -> io::Result<Option<StdFile>> {
    let mode = OpenMode {
        follow,
        creates: false,
        exclusive: false,
        truncates: false,
        directory: false,
        reads: true,
        writes: false,
    };
    Ok(match find(from, path, mode, root)? {
        Lookup::File(file, _) | Lookup::Dir(file) => Some(file),
        Lookup::Other | Lookup::OverQuota(_) => None,
    })
}

/// Examines the path before opening it: a FIFO or a device notices being opened.
fn find(from: &StdFile, path: &Path, mode: OpenMode, root: &Root) -> io::Result<Lookup> {
    let before = match stat(from, path, mode.follow) {
        Ok(metadata) => Some(metadata),
        Err(error) if error.kind() == io::ErrorKind::NotFound && mode.creates => None,
        Err(error) => return Err(error),
    };
    // The system refuses links that are not to be followed.
    let opens = |metadata: &Metadata| opens(metadata, root) || metadata.is_symlink();
    if before.as_ref().is_some_and(|metadata| !opens(metadata)) {
        return Ok(Lookup::Other);
    }
    let new = if before.is_none() { Usage::FILE } else { Usage::default() };
    if let Err(full) = root.take(new) {
        return Ok(Lookup::OverQuota(full));
    }
    let file = open(from, path, &mode.options()).inspect_err(|_| root.give(new))?;
    let metadata = Metadata::from_file(&file)?;
    if let Some(before) = before.filter(|before| mode.truncates && before.is_file()) {
        root.give(Usage::bytes(before.len()));
    }
    if metadata.is_dir() {
        return Ok(Lookup::Dir(file));
    }
    Ok(if opens(&metadata) { Lookup::File(file, metadata) } else { Lookup::Other })
}

fn opens(metadata: &Metadata, root: &Root) -> bool {
    (metadata.is_file() || metadata.is_dir()) && !root.host_dir.is_kernel(metadata.dev())
}
