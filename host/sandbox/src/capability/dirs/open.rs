//! What opens: files and directories, and nothing else that has a name there.

use std::{fs::File as StdFile, io, path::Path, sync::Arc};

use cap_primitives::fs::{FollowSymlinks, Metadata, MetadataExt as _, OpenOptions, open, stat};
use wasmtime_wasi::p2::bindings::filesystem::types::{DescriptorFlags, ErrorCode, OpenFlags, PathFlags};

use super::{
    handle::{Dir, File, Handle, Open, Root},
    ledger::{Full, Usage, inode},
};
use crate::budget::Spent;

/// Longer paths no system takes.
const LONGEST_PATH: usize = 4096;

/// Why something did not happen.
#[derive(Debug)]
pub(super) enum Refusal {
    /// What the guest is told.
    Code(ErrorCode),
    /// The same, and in so many words whoever runs it.
    Told(ErrorCode, String),
    /// There are no descriptors for it.
    Spent(Spent),
}

impl From<ErrorCode> for Refusal {
    fn from(code: ErrorCode) -> Self {
        Self::Code(code)
    }
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Code(error.into())
    }
}

impl Dir {
    /// A refusal that names `path` as the guest calls it.
    pub(super) fn refusal(&self, code: ErrorCode, path: &str, why: &str) -> Refusal {
        let path: String = path.chars().take(80).collect();
        Refusal::Told(code, format!("`{}/{}` {why}", self.name, path.escape_debug()))
    }

    /// A refusal for want of room.
    pub(super) fn full(&self, full: Full) -> Refusal {
        Refusal::Told(ErrorCode::Quota, format!("{full} of `{}`", self.name))
    }
}

impl From<Spent> for Refusal {
    fn from(spent: Spent) -> Self {
        Self::Spent(spent)
    }
}

/// What a guest asks for when it opens something.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    follow: FollowSymlinks,
    creates: bool,
    exclusive: bool,
    truncates: bool,
    directory: bool,
    reads: bool,
    writes: bool,
}

impl Wanted {
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
        // Should something else lie there by then, it does not hold up whoever opens it.
        options._cap_fs_ext_follow(self.follow)._cap_fs_ext_nonblock(true);
        options
    }
}

pub(super) fn follow(flags: PathFlags) -> FollowSymlinks {
    FollowSymlinks::follow(flags.contains(PathFlags::SYMLINK_FOLLOW))
}

pub(super) fn checked(path: &str) -> Result<(), ErrorCode> {
    if path.len() > LONGEST_PATH { Err(ErrorCode::NameTooLong) } else { Ok(()) }
}

/// What was found where something should be opened.
enum Found {
    File(StdFile, Metadata),
    Dir(StdFile),
    /// Something that is no file.
    Other,
    Full(Full),
}

/// Opens `path` in `dir`; `granted` is the grant's own directory.
pub(super) async fn open_at(
    dir: &Dir,
    granted: &Arc<Handle>,
    path: String,
    wanted: Wanted,
) -> Result<Open, Refusal> {
    checked(&path)?;
    let root = &dir.handle.root;
    if wanted.writes {
        dir.writable()?;
        dir.handle.count(granted).await?;
    }
    let share = root.holder.take()?;
    let (of, at) = (Arc::clone(root), path.clone());
    let found = dir.handle.run(move |from| find(from, Path::new(&at), wanted, &of)).await?;
    match found {
        Found::Dir(file) => {
            let name = format!("{}/{path}", dir.name).into();
            Ok(Open::Dir(Dir { handle: Handle::new(file, Arc::clone(root), share, None), name }))
        }
        Found::File(..) if wanted.directory => Err(ErrorCode::NotDirectory.into()),
        Found::File(file, metadata) => {
            let counted = (!root.quota.is_none()).then(|| inode(&metadata));
            let handle = Handle::new(file, Arc::clone(root), share, counted);
            Ok(Open::File(File { handle, reads: wanted.reads, writes: wanted.writes }))
        }
        Found::Other => Err(dir.refusal(ErrorCode::NotPermitted, &path, "is neither a file nor a directory")),
        Found::Full(full) => Err(dir.full(full)),
    }
}

/// Looks before it opens: a FIFO or a device notices whoever opens it.
fn find(from: &StdFile, path: &Path, wanted: Wanted, root: &Root) -> io::Result<Found> {
    let before = match stat(from, path, wanted.follow) {
        Ok(metadata) => Some(metadata),
        Err(error) if error.kind() == io::ErrorKind::NotFound && wanted.creates => None,
        Err(error) => return Err(error),
    };
    // Links that are not to be followed are left to the system to refuse.
    let opens = |metadata: &Metadata| opens(metadata, root) || metadata.is_symlink();
    if before.as_ref().is_some_and(|metadata| !opens(metadata)) {
        return Ok(Found::Other);
    }
    let new = if before.is_none() { Usage::FILE } else { Usage::default() };
    if let Err(full) = root.take(new) {
        return Ok(Found::Full(full));
    }
    let file = open(from, path, &wanted.options()).inspect_err(|_| root.give(new))?;
    let metadata = Metadata::from_file(&file)?;
    if let Some(before) = before.filter(|before| wanted.truncates && before.is_file()) {
        root.give(Usage::bytes(before.len()));
    }
    if metadata.is_dir() {
        return Ok(Found::Dir(file));
    }
    Ok(if opens(&metadata) { Found::File(file, metadata) } else { Found::Other })
}

fn opens(metadata: &Metadata, root: &Root) -> bool {
    (metadata.is_file() || metadata.is_dir()) && !root.place.is_kernel(metadata.dev())
}
