//! The bell of a store that another process holds, as it is rung from outside.

use std::{
    fs::File,
    io,
    os::fd::AsRawFd as _,
    path::{Path, PathBuf},
};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::UnixStream,
    sync::watch,
};

/// The longest line that is said.
pub(crate) const LINE: u64 = 256;
/// The line that tells the other process to look in the store.
pub(crate) const LOOK: &str = "look\n";
/// The longest path of a socket that every system takes.
const LONGEST_PATH: usize = 100;

/// The socket beside a store's file.
pub(crate) fn beside(store: &Path) -> PathBuf {
    let mut path = store.as_os_str().to_owned();
    path.push(".sock");
    path.into()
}

/// A path of the socket that is short enough, and what keeps it valid.
pub(crate) fn short(socket: &Path) -> io::Result<(PathBuf, Option<File>)> {
    if socket.as_os_str().len() <= LONGEST_PATH {
        return Ok((socket.into(), None));
    }
    let (Some(dir), Some(name)) = (socket.parent(), socket.file_name()) else {
        return Err(io::ErrorKind::InvalidFilename.into());
    };
    let dir = File::open(if dir.as_os_str().is_empty() { Path::new(".") } else { dir })?;
    Ok((Path::new("/proc/self/fd").join(dir.as_raw_fd().to_string()).join(name), Some(dir)))
}

/// Reports every commit of a run until no driver is left.
pub(crate) async fn hear(store: &Path, run_id: &str, told: &watch::Sender<()>) {
    let Some(mut ring) = WakeupClient::at(store).await else { return };
    if ring.follow(run_id).await.is_ok() {
        while ring.look().await.unwrap_or(false) {
            told.send_replace(());
        }
    }
}

/// The bell of a store that another process holds.
#[derive(Debug)]
pub struct WakeupClient(BufReader<UnixStream>);

impl WakeupClient {
    /// Absent if no process that holds the store listens.
    pub async fn at(store: &Path) -> Option<Self> {
        let (path, _dir) = short(&beside(store)).ok()?;
        UnixStream::connect(path).await.ok().map(|stream| Self(BufReader::new(stream)))
    }

    /// Has the run read a letter that was posted to it. When this returns, it is answered, or the host is gone; the store says.
    ///
    /// # Errors
    /// When the host is gone.
    pub async fn deliver(mut self, run_id: &str, letter: u64) -> io::Result<()> {
        self.0.write_all(format!("mail {run_id} {letter}\n").as_bytes()).await?;
        self.look().await.map(drop)
    }

    /// Says that a run was submitted.
    ///
    /// # Errors
    /// When the host is gone.
    pub async fn submitted(mut self) -> io::Result<()> {
        self.0.write_all(b"due\n").await?;
        self.look().await.map(drop)
    }

    /// Begins to follow a run.
    ///
    /// # Errors
    /// When the host is gone.
    pub async fn follow(&mut self, run_id: &str) -> io::Result<()> {
        self.0.write_all(format!("follow {run_id}\n").as_bytes()).await
    }

    /// Waits until there is something to look at in the store; false once nothing more will come.
    ///
    /// # Errors
    /// When the host is gone.
    pub async fn look(&mut self) -> io::Result<bool> {
        let mut line = String::new();
        Ok((&mut self.0).take(LINE).read_line(&mut line).await? > 0)
    }
}
