//! Metadata of files, as `wasi:filesystem` has it: read, converted and set.

use std::{
    fs::File,
    hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher},
    io,
    path::Path,
    time::{Duration, SystemTime},
};

use cap_primitives::{
    fs::{self as cap, FollowSymlinks, Metadata, MetadataExt as _, OpenOptions, SystemTimeSpec, stat},
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
    open::check_path,
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

pub(super) async fn set_times(
    dir: &Dir,
    path: String,
    follow: FollowSymlinks,
    access: Option<SystemTime>,
    modification: Option<SystemTime>,
) -> FsResult<()> {
    check_path(&path)?;
    dir.writable()?;
    let spec = |at: SystemTime| SystemTimeSpec::Absolute(time::SystemTime::from_std(at));
    let set = if follow == FollowSymlinks::Yes { cap::set_times } else { cap::set_times_nofollow };
    let set = move |from: &File| set(from, Path::new(&path), access.map(spec), modification.map(spec));
    Ok(dir.handle.run(set).await?)
}

/// Converts a timestamp; `None` if it is not to be changed.
pub(super) fn timestamp(of: NewTimestamp) -> Result<Option<SystemTime>, ErrorCode> {
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
