//! Metadata of files, as `wasi:filesystem` has it: read, converted and set.

use std::{
    fs::{File, FileTimes},
    hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher},
    io,
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime},
};

use cap_primitives::{
    fs::{self as cap, FollowSymlinks, Metadata, MetadataExt as _, OpenOptions, stat},
    time,
};
use wasmtime_wasi::p2::{
    FsResult,
    bindings::{
        clocks::wall_clock::Datetime,
        filesystem::types::{DescriptorStat, ErrorCode, MetadataHashValue, NewTimestamp},
    },
};

use super::{
    handle::{Dir, Open},
    listing::kind,
    open::{Refusal, check_path, find_existing},
    quota::usage::inode,
};

pub(super) async fn sync_with(open: &Open, sync: fn(&File) -> io::Result<()>) -> io::Result<()> {
    let is_dir = matches!(open, Open::Dir(_));
    let work = move |file: &File| {
        if is_dir {
            sync(&cap::open(file, Path::new("."), OpenOptions::new().read(true))?)
        } else {
            sync(file)
        }
    };
    open.handle().run_long(work).await
}

pub(super) async fn stat_path(dir: &Dir, path: String, follow: FollowSymlinks) -> FsResult<Metadata> {
    check_path(&path)?;
    Ok(dir.handle.run(move |from| stat(from, Path::new(&path), follow)).await?)
}

/// Sets the times of what lies at a path. It is opened for that, as setting times by a path is a system call that reaches beyond a
/// granted directory, which processes of attempts do without.
pub(super) async fn set_times(
    dir: &Dir,
    path: String,
    follow: FollowSymlinks,
    times: FileTimes,
) -> Result<(), Refusal> {
    check_path(&path)?;
    dir.writable()?;
    let root = Arc::clone(&dir.handle.root);
    let at = path.clone();
    let set = move |from: &File| match find_existing(from, Path::new(&at), follow, &root)? {
        Some(file) => file.set_times(times).map(|()| true),
        None => Ok(false),
    };
    if dir.handle.run(set).await? { Ok(()) } else { Err(dir.other_kind(&path)) }
}

/// Returns the times that are to be set.
pub(super) fn file_times(access: NewTimestamp, modification: NewTimestamp) -> Result<FileTimes, ErrorCode> {
    let times = timestamp(access)?.into_iter().fold(FileTimes::new(), FileTimes::set_accessed);
    Ok(timestamp(modification)?.into_iter().fold(times, FileTimes::set_modified))
}

/// Converts a timestamp; `None` if it is not to be changed.
fn timestamp(of: NewTimestamp) -> Result<Option<SystemTime>, ErrorCode> {
    let at = match of {
        NewTimestamp::NoChange => return Ok(None),
        NewTimestamp::Now => return Ok(Some(SystemTime::now())),
        NewTimestamp::Timestamp(at) => at,
    };
    let since = Duration::from_secs(at.seconds).checked_add(Duration::from_nanos(at.nanoseconds.into()));
    let at = since.and_then(|since| SystemTime::UNIX_EPOCH.checked_add(since));
    at.map(Some).ok_or(ErrorCode::Overflow)
}

pub(super) fn descriptor_stat(metadata: &Metadata) -> DescriptorStat {
    let at = |time: io::Result<time::SystemTime>| {
        let since = time.ok()?.into_std().duration_since(SystemTime::UNIX_EPOCH).ok()?;
        Some(Datetime { seconds: since.as_secs(), nanoseconds: since.subsec_nanos() })
    };
    DescriptorStat {
        type_: kind(metadata.file_type()),
        link_count: metadata.nlink(),
        size: metadata.len(),
        data_access_timestamp: at(metadata.accessed()),
        data_modification_timestamp: at(metadata.modified()),
        status_change_timestamp: at(metadata.created()),
    }
}

/// Returns a hash that depends on the file only, not on its name.
pub(super) fn hash(metadata: &Metadata) -> MetadataHashValue {
    let hashes = BuildHasherDefault::<DefaultHasher>::default();
    let of = |part: u64| hashes.hash_one((part, inode(metadata)));
    MetadataHashValue { lower: of(0), upper: of(1) }
}
