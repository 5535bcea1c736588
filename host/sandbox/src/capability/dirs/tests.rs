//! Files on which a call may block: nothing runs on the calling thread.

use std::{
    fs::{self, File as StdFile},
    path::Path,
    sync::mpsc,
    thread::{self, ThreadId},
};

use cap_primitives::{ambient_authority, fs::open_ambient_dir};
use wasmtime_wasi::p2::{InputStream as _, OutputStream as _, Pollable as _};

use super::{
    handle::{Dir, Handle, Open, Root},
    host_dir::HostDir,
    listing::Listing,
    mounts::MountInfo,
    open::{OpenMode, open_at},
    quota::usage::Quota,
    streams::{At, Reader, Writer},
    *,
};

/// Returns `path` as if it were on a remote file system.
fn far(path: &Path, quota: Quota) -> Dir {
    let mounts = MountInfo { may_block: true, ..MountInfo::default() };
    let lease = Lease::of_plugin(&SharedBudget::new(100), &"a".into(), &"x".into(), 10);
    let permit = lease.take().unwrap();
    let host_dir = Arc::new(HostDir::new((0, 0), mounts));
    let root = Arc::new(Root {
        accounting: Accounting::Local(Arc::clone(&host_dir)),
        host_dir,
        lease,
        read_only: false,
        quota,
        met: OnceLock::new(),
        began: Instant::now(),
        moved: Arc::default(),
    });
    let file = open_ambient_dir(path, ambient_authority()).unwrap();
    Dir { handle: Handle::new(file, root, permit, None), name: "/data".into() }
}

async fn opened(dir: &Dir, path: &str, flags: types::OpenFlags) -> Open {
    let both = types::DescriptorFlags::READ | types::DescriptorFlags::WRITE;
    let mode = OpenMode::of(types::PathFlags::empty(), flags, both).unwrap();
    open_at(dir, &dir.handle, path.to_owned(), mode).await.unwrap()
}

/// R-I18.
#[tokio::test]
async fn a_caller_that_stops_waiting_abandons_its_call() {
    let temporary = tempfile::tempdir().unwrap();
    let dir = far(temporary.path(), Quota::default());
    let (go_on, hangs) = mpsc::channel::<()>();
    let (tell, began) = mpsc::channel::<ThreadId>();
    let hanging = dir.handle.run(move |_| {
        tell.send(thread::current().id()).unwrap();
        Ok(hangs.recv().is_ok())
    });
    let mut hanging = Box::pin(hanging);
    // Started, but on another thread.
    assert!(futures_poll(&mut hanging).is_none());
    let elsewhere = tokio::task::spawn_blocking(move || began.recv().unwrap()).await.unwrap();
    assert_ne!(elsewhere, thread::current().id());
    drop(hanging);
    // Other calls continue meanwhile, and so does the abandoned one in the end.
    assert!(dir.handle.run(StdFile::metadata).await.unwrap().is_dir());
    go_on.send(()).unwrap();
}

fn futures_poll<F: Future>(future: &mut std::pin::Pin<Box<F>>) -> Option<F::Output> {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match future.as_mut().poll(&mut context) {
        std::task::Poll::Ready(output) => Some(output),
        std::task::Poll::Pending => None,
    }
}

/// R-I18: everything works on a remote file system as on a local one.
#[tokio::test]
async fn files_on_a_remote_file_system_are_read_and_written() {
    let temporary = tempfile::tempdir().unwrap();
    let dir = far(temporary.path(), Quota { bytes: Some(20), files: Some(3) });
    let file = opened(&dir, "a", types::OpenFlags::CREATE).await.file().unwrap();
    let permit = || dir.handle.root.lease.take().unwrap();
    let mut writer = Writer::new(Arc::clone(&file.handle), At::Offset(0), permit());
    writer.blocking_write_and_flush(b"hello".as_slice().into()).await.unwrap();
    let mut appender = Writer::new(Arc::clone(&file.handle), At::End, permit());
    appender.blocking_write_and_flush(b" world".as_slice().into()).await.unwrap();
    let too_much = appender.blocking_write_and_flush(vec![0; 64].into()).await.unwrap_err();
    assert!(too_much.to_string().contains("quota of 20 bytes"), "{too_much}");
    assert_eq!(fs::read_to_string(temporary.path().join("a")).unwrap(), "hello world");

    let mut reader = Reader::new(Arc::clone(&file.handle), 6, permit());
    assert!(reader.read(3).unwrap().is_empty());
    reader.ready().await;
    assert_eq!(reader.read(3).unwrap(), "wor");
    assert_eq!(reader.blocking_read(9).await.unwrap(), "ld");
    assert!(reader.blocking_read(9).await.is_err());

    let mut listing = Listing::of(Arc::clone(&dir.handle)).await.unwrap();
    assert_eq!(listing.next().await.unwrap().unwrap().name, "a");
    assert!(listing.next().await.unwrap().is_none());
}
