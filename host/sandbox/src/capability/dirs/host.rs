//! `wasi:filesystem`, as far as it is granted.

use std::{io, path::Path, sync::Arc};

use cap_primitives::fs::{self as cap, DirOptions, FollowSymlinks, stat};
use wasmtime::component::Resource;
use wasmtime_wasi::p2::{
    DynInputStream, DynOutputStream, FsError, FsResult,
    bindings::filesystem::types::{
        self, Advice, Descriptor, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry,
        DirectoryEntryStream, ErrorCode, Filesize, HostDescriptor, HostDirectoryEntryStream,
        MetadataHashValue, NewTimestamp, OpenFlags, PathFlags,
    },
};

use super::{
    DirsView,
    error_code::code_of,
    handle::{self, Dir, File, Handle, Open},
    listing::Listing,
    metadata::{descriptor_stat, file_times, hash, set_times, stat_path, sync_with},
    open::{OpenMode, Refusal, check_path, follow, open_at},
    quota::usage::{Removal, Usage, inode},
    streams::{At, QuotaError, Reader, Writer, read, write},
};
use crate::{limits::Limit, shared_budget::BudgetError};

/// Links are never made: a program that may read more than the guest could follow them.
const LINKS_REFUSED: &str = "is not made: links may lead out of the granted directory";

impl DirsView<'_> {
    fn open(&self, descriptor: &Resource<Descriptor>) -> FsResult<Open> {
        handle::get(self.table, descriptor).map_err(wasmtime::Error::from).map_err(FsError::trap)
    }

    fn dir(&self, descriptor: &Resource<Descriptor>) -> FsResult<Dir> {
        Ok(self.open(descriptor)?.dir()?)
    }

    fn file(&self, descriptor: &Resource<Descriptor>) -> FsResult<File> {
        Ok(self.open(descriptor)?.file()?)
    }

    /// Returns the directory of the grant that `dir` belongs to.
    fn granted(&self, dir: &Dir) -> Arc<Handle> {
        let of = |granted: &&Dir| Arc::ptr_eq(&granted.handle.root, &dir.handle.root);
        Arc::clone(&self.dirs.0.iter().find(of).unwrap_or(dir).handle)
    }

    /// Returns the guest's error; the operator is given the reason as well.
    fn refuse(&mut self, refusal: impl Into<Refusal>) -> FsError {
        match refusal.into() {
            Refusal::Code(code) => code.into(),
            Refusal::Reason(code, why) => {
                self.refusals.add(|| why);
                code.into()
            }
            // The guest's own limit stays as it is; a shared one may become free.
            Refusal::Exhausted(BudgetError::Own) => {
                let Self { attempt, refusals, .. } = self;
                refusals.add(|| attempt.ceilings.exceeded(Limit::Descriptors).message(attempt.owner()));
                ErrorCode::Quota.into()
            }
            Refusal::Exhausted(exhausted) => {
                self.refusals.add(|| exhausted.to_string());
                ErrorCode::Busy.into()
            }
        }
    }

    /// Converts an error, and names the quota if it was reached.
    fn failed(&mut self, error: &io::Error) -> FsError {
        match error.get_ref().and_then(|inner| inner.downcast_ref::<QuotaError>()) {
            Some(over_quota) => {
                let why = over_quota.to_string();
                self.refuse(Refusal::Reason(ErrorCode::Quota, why))
            }
            None => code_of(error).into(),
        }
    }
}

impl types::Host for DirsView<'_> {
    fn convert_error_code(&mut self, error: FsError) -> wasmtime::Result<ErrorCode> {
        error.downcast()
    }

    fn filesystem_error_code(
        &mut self,
        error: Resource<wasmtime::Error>,
    ) -> wasmtime::Result<Option<ErrorCode>> {
        Ok(self.table.get(&error)?.downcast_ref::<io::Error>().map(code_of))
    }
}

impl HostDescriptor for DirsView<'_> {
    /// Advice may be ignored.
    async fn advise(
        &mut self,
        descriptor: Resource<Descriptor>,
        _: Filesize,
        _: Filesize,
        _: Advice,
    ) -> FsResult<()> {
        self.file(&descriptor).map(drop)
    }

    async fn sync_data(&mut self, descriptor: Resource<Descriptor>) -> FsResult<()> {
        let open = self.open(&descriptor)?;
        Ok(sync_with(&open, |file| file.sync_data()).await?)
    }

    async fn sync(&mut self, descriptor: Resource<Descriptor>) -> FsResult<()> {
        let open = self.open(&descriptor)?;
        Ok(sync_with(&open, |file| file.sync_all()).await?)
    }

    async fn get_flags(&mut self, descriptor: Resource<Descriptor>) -> FsResult<DescriptorFlags> {
        let (reads, writes, changes) = match self.open(&descriptor)? {
            Open::Dir(dir) => (true, false, !dir.handle.root.read_only),
            Open::File(file) => (file.reads, file.writes, false),
        };
        let mut flags = DescriptorFlags::empty();
        for (flag, is) in [
            (DescriptorFlags::READ, reads),
            (DescriptorFlags::WRITE, writes),
            (DescriptorFlags::MUTATE_DIRECTORY, changes),
        ] {
            flags |= if is { flag } else { DescriptorFlags::empty() };
        }
        Ok(flags)
    }

    async fn get_type(&mut self, descriptor: Resource<Descriptor>) -> FsResult<DescriptorType> {
        Ok(match self.open(&descriptor)? {
            Open::Dir(_) => DescriptorType::Directory,
            Open::File(_) => DescriptorType::RegularFile,
        })
    }

    async fn set_size(&mut self, descriptor: Resource<Descriptor>, size: Filesize) -> FsResult<()> {
        let file = self.file(&descriptor)?;
        file.writable()?;
        let root = Arc::clone(&file.handle.root);
        let resize = move |file: &std::fs::File| {
            let before = if root.quota.is_none() { size } else { file.metadata()?.len() };
            root.take(Usage::bytes(size.saturating_sub(before))).map_err(QuotaError::error)?;
            let resized = file.set_len(size);
            let less =
                if resized.is_ok() { before.saturating_sub(size) } else { size.saturating_sub(before) };
            root.give(Usage::bytes(less));
            resized
        };
        file.handle.run_long(resize).await.map_err(|error| self.failed(&error))
    }

    async fn set_times(
        &mut self,
        descriptor: Resource<Descriptor>,
        access: NewTimestamp,
        modification: NewTimestamp,
    ) -> FsResult<()> {
        let times = file_times(access, modification)?;
        match self.open(&descriptor)? {
            Open::Dir(dir) => {
                let set = set_times(&dir, ".".to_owned(), FollowSymlinks::No, times).await;
                set.map_err(|refusal| self.refuse(refusal))
            }
            Open::File(file) => {
                file.writable()?;
                Ok(file.handle.run(move |file| file.set_times(times)).await?)
            }
        }
    }

    async fn read(
        &mut self,
        descriptor: Resource<Descriptor>,
        length: Filesize,
        offset: Filesize,
    ) -> FsResult<(Vec<u8>, bool)> {
        let file = self.file(&descriptor)?;
        let bytes = file.handle.run(move |file| read(file, offset, length)).await?;
        file.handle.root.moved.add_read(bytes.len());
        let end = bytes.is_empty();
        Ok((bytes, end))
    }

    async fn write(
        &mut self,
        descriptor: Resource<Descriptor>,
        buffer: Vec<u8>,
        offset: Filesize,
    ) -> FsResult<Filesize> {
        let file = self.file(&descriptor)?;
        file.writable()?;
        let root = Arc::clone(&file.handle.root);
        let written = file.handle.run(move |file| write(file, &buffer, At::Offset(offset), &root)).await;
        written.map(|count| count as Filesize).map_err(|error| self.failed(&error))
    }

    async fn read_directory(
        &mut self,
        descriptor: Resource<Descriptor>,
    ) -> FsResult<Resource<DirectoryEntryStream>> {
        let dir = self.dir(&descriptor)?;
        let listing = Listing::of(dir.handle).await.map_err(|refusal| self.refuse(refusal))?;
        Ok(Resource::new_own(self.table.push(listing)?.rep()))
    }

    async fn create_directory_at(&mut self, descriptor: Resource<Descriptor>, path: String) -> FsResult<()> {
        let dir = self.changing(&descriptor, &path).await?;
        if let Err(full) = dir.handle.root.take(Usage::FILE) {
            return Err(self.refuse(dir.full(full)));
        }
        let root = Arc::clone(&dir.handle.root);
        let create = move |from: &std::fs::File| {
            cap::create_dir(from, Path::new(&path), &DirOptions::new())
                .inspect_err(|_| root.give(Usage::FILE))
        };
        Ok(dir.handle.run(create).await?)
    }

    async fn stat(&mut self, descriptor: Resource<Descriptor>) -> FsResult<DescriptorStat> {
        let open = self.open(&descriptor)?;
        Ok(descriptor_stat(&open.handle().run(handle::metadata).await?))
    }

    async fn stat_at(
        &mut self,
        descriptor: Resource<Descriptor>,
        flags: PathFlags,
        path: String,
    ) -> FsResult<DescriptorStat> {
        Ok(descriptor_stat(&stat_path(&self.dir(&descriptor)?, path, follow(flags)).await?))
    }

    async fn set_times_at(
        &mut self,
        descriptor: Resource<Descriptor>,
        flags: PathFlags,
        path: String,
        access: NewTimestamp,
        modification: NewTimestamp,
    ) -> FsResult<()> {
        let times = file_times(access, modification)?;
        let set = set_times(&self.dir(&descriptor)?, path, follow(flags), times).await;
        set.map_err(|refusal| self.refuse(refusal))
    }

    async fn link_at(
        &mut self,
        _: Resource<Descriptor>,
        _: PathFlags,
        _: String,
        descriptor: Resource<Descriptor>,
        path: String,
    ) -> FsResult<()> {
        let dir = self.dir(&descriptor)?;
        Err(self.refuse(dir.refusal(ErrorCode::NotPermitted, &path, LINKS_REFUSED)))
    }

    async fn symlink_at(
        &mut self,
        descriptor: Resource<Descriptor>,
        _: String,
        path: String,
    ) -> FsResult<()> {
        let dir = self.dir(&descriptor)?;
        Err(self.refuse(dir.refusal(ErrorCode::NotPermitted, &path, LINKS_REFUSED)))
    }

    async fn open_at(
        &mut self,
        descriptor: Resource<Descriptor>,
        path_flags: PathFlags,
        path: String,
        open: OpenFlags,
        flags: DescriptorFlags,
    ) -> FsResult<Resource<Descriptor>> {
        let dir = self.dir(&descriptor)?;
        let mode = OpenMode::of(path_flags, open, flags)?;
        let opened = open_at(&dir, &self.granted(&dir), path, mode).await;
        let opened = opened.map_err(|refusal| self.refuse(refusal))?;
        Ok(handle::push(self.table, opened)?)
    }

    fn drop(&mut self, descriptor: Resource<Descriptor>) -> wasmtime::Result<()> {
        handle::delete(self.table, &descriptor)?;
        Ok(())
    }

    async fn readlink_at(&mut self, descriptor: Resource<Descriptor>, path: String) -> FsResult<String> {
        let dir = self.dir(&descriptor)?;
        check_path(&path)?;
        let target = dir.handle.run(move |from| cap::read_link(from, Path::new(&path))).await?;
        Ok(target.into_os_string().into_string().map_err(|_| ErrorCode::IllegalByteSequence)?)
    }

    async fn remove_directory_at(&mut self, descriptor: Resource<Descriptor>, path: String) -> FsResult<()> {
        self.remove(&descriptor, path, cap::remove_dir).await
    }

    async fn unlink_file_at(&mut self, descriptor: Resource<Descriptor>, path: String) -> FsResult<()> {
        self.remove(&descriptor, path, cap::remove_file).await
    }

    async fn rename_at(
        &mut self,
        descriptor: Resource<Descriptor>,
        old: String,
        to: Resource<Descriptor>,
        new: String,
    ) -> FsResult<()> {
        let (from, to) = (self.changing(&descriptor, &old).await?, self.changing(&to, &new).await?);
        let (one, other) = (&from.handle.root, &to.handle.root);
        let counted = !one.quota.is_none() || !other.quota.is_none();
        if counted && !Arc::ptr_eq(&one.host_dir, &other.host_dir) {
            return Err(ErrorCode::CrossDevice.into());
        }
        let target = Arc::clone(&to.handle);
        let name = old.clone();
        let rename = move |from: &std::fs::File| {
            let (old, new, to) = (Path::new(&name), Path::new(&new), target.file()?);
            if stat(from, old, FollowSymlinks::No)?.is_symlink() {
                return Ok(false);
            }
            let replaced = stat(to, new, FollowSymlinks::No).ok();
            cap::rename(from, old, to, new)?;
            let replaced = replaced.filter(|_| !target.root.quota.is_none());
            replaced.iter().for_each(|replaced| target.root.accounting.removed(Removal::of(replaced)));
            Ok(true)
        };
        if from.handle.run_long(rename).await? {
            return Ok(());
        }
        let why = "is not moved: a link leads elsewhere from there";
        Err(self.refuse(from.refusal(ErrorCode::NotPermitted, &old, why)))
    }

    fn read_via_stream(
        &mut self,
        descriptor: Resource<Descriptor>,
        offset: Filesize,
    ) -> FsResult<Resource<DynInputStream>> {
        let Open::File(file) = self.open(&descriptor)? else { return Err(ErrorCode::IsDirectory.into()) };
        let permit = file.handle.root.lease.take().map_err(|exhausted| self.refuse(exhausted))?;
        let reader = Reader::new(file.handle, offset, permit);
        Ok(self.table.push(Box::new(reader) as DynInputStream)?)
    }

    fn write_via_stream(
        &mut self,
        descriptor: Resource<Descriptor>,
        offset: Filesize,
    ) -> FsResult<Resource<DynOutputStream>> {
        self.writer(&descriptor, At::Offset(offset))
    }

    fn append_via_stream(&mut self, descriptor: Resource<Descriptor>) -> FsResult<Resource<DynOutputStream>> {
        self.writer(&descriptor, At::End)
    }

    async fn is_same_object(
        &mut self,
        one: Resource<Descriptor>,
        other: Resource<Descriptor>,
    ) -> wasmtime::Result<bool> {
        let (one, other) = (handle::get(self.table, &one)?, handle::get(self.table, &other)?);
        let one = one.handle().run(handle::metadata).await?;
        Ok(inode(&one) == inode(&other.handle().run(handle::metadata).await?))
    }

    async fn metadata_hash(&mut self, descriptor: Resource<Descriptor>) -> FsResult<MetadataHashValue> {
        let open = self.open(&descriptor)?;
        Ok(hash(&open.handle().run(handle::metadata).await?))
    }

    async fn metadata_hash_at(
        &mut self,
        descriptor: Resource<Descriptor>,
        flags: PathFlags,
        path: String,
    ) -> FsResult<MetadataHashValue> {
        Ok(hash(&stat_path(&self.dir(&descriptor)?, path, follow(flags)).await?))
    }
}

impl HostDirectoryEntryStream for DirsView<'_> {
    async fn read_directory_entry(
        &mut self,
        stream: Resource<DirectoryEntryStream>,
    ) -> FsResult<Option<DirectoryEntry>> {
        let listing = self.table.get_mut(&Resource::<Listing>::new_borrow(stream.rep()))?;
        let next = listing.next().await;
        next.map_err(|refusal| self.refuse(refusal))
    }

    fn drop(&mut self, stream: Resource<DirectoryEntryStream>) -> wasmtime::Result<()> {
        self.table.delete(Resource::<Listing>::new_own(stream.rep()))?;
        Ok(())
    }
}

impl DirsView<'_> {
    /// Returns a directory that is about to be changed.
    async fn changing(&mut self, descriptor: &Resource<Descriptor>, path: &str) -> FsResult<Dir> {
        let dir = self.dir(descriptor)?;
        check_path(path)?;
        dir.writable()?;
        dir.handle.count(&self.granted(&dir)).await?;
        Ok(dir)
    }

    async fn remove(
        &mut self,
        descriptor: &Resource<Descriptor>,
        path: String,
        remove: fn(&std::fs::File, &Path) -> io::Result<()>,
    ) -> FsResult<()> {
        let dir = self.changing(descriptor, &path).await?;
        let root = Arc::clone(&dir.handle.root);
        let remove = move |from: &std::fs::File| {
            let path = Path::new(&path);
            let before =
                if root.quota.is_none() { None } else { Some(stat(from, path, FollowSymlinks::No)?) };
            remove(from, path)?;
            before.iter().for_each(|before| root.accounting.removed(Removal::of(before)));
            Ok(())
        };
        // Deleting a large file takes a while.
        Ok(dir.handle.run_long(remove).await?)
    }

    fn writer(&mut self, descriptor: &Resource<Descriptor>, at: At) -> FsResult<Resource<DynOutputStream>> {
        let file = self.file(descriptor)?;
        file.writable()?;
        let permit = file.handle.root.lease.take().map_err(|exhausted| self.refuse(exhausted))?;
        let writer = Writer::new(file.handle, at, permit);
        Ok(self.table.push(Box::new(writer) as DynOutputStream)?)
    }
}
