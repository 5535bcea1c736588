//! Wake-ups between processes of one machine: a process that has posted a request to a run, or wants to follow one, wakes the
//! host that holds the store. Requests and replies are in the store; a wake-up only tells when to look.
//!
//! ```text
//!  another process                    the host that holds the file
//!   post(request) ─▶ store
//!   "mail RUN LETTER" ──▶ FILE.sock ──▶ read_requests(run) … recorded
//!   answer(letter) ◀── store ◀── "look"
//!   "due" ──▶ FILE.sock ──▶ claims what was submitted
//!   "follow RUN" ──────▶ FILE.sock ──▶ "look" after every commit, the end when it is over
//! ```

use std::{
    fs, io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::{Arc, Weak},
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{UnixListener, UnixStream},
    sync::Semaphore,
    time::timeout,
};

use crate::{
    core::HostCore,
    drive::load,
    store::Answer,
    store::sqlite::wakeup::{LINE, LOOK, beside, short},
};

/// Clients at once; others wait to be let in.
const MAX_CLIENTS: usize = 64;
/// How long a client may take for it.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// Listens for wake-ups of a store until it is dropped.
#[derive(Debug)]
pub struct WakeupListener {
    socket: PathBuf,
    listening: tokio::task::JoinHandle<()>,
}

impl Drop for WakeupListener {
    fn drop(&mut self) {
        self.listening.abort();
        drop(fs::remove_file(&self.socket));
    }
}

impl WakeupListener {
    /// Listens for wake-ups of the store in that file, which this process must hold.
    ///
    /// # Errors
    /// When the socket cannot be made.
    pub(crate) fn listen(store: &Path, shared: &Arc<HostCore>) -> io::Result<Self> {
        let socket = beside(store);
        // This process holds the file: a socket that is there was left by a process that was killed.
        drop(fs::remove_file(&socket));
        let _entered = shared.control.enter();
        let (path, _dir) = short(&socket)?;
        let listener = UnixListener::bind(path)?;
        fs::set_permissions(&socket, fs::Permissions::from_mode(0o600))?;
        let listening = shared.control.spawn(welcome(listener, Arc::downgrade(shared)));
        Ok(Self { socket, listening })
    }
}

async fn welcome(listener: UnixListener, shared: Weak<HostCore>) {
    let room = Arc::new(Semaphore::new(MAX_CLIENTS));
    while let Ok(place) = Arc::clone(&room).acquire_owned().await {
        let Ok((client, _)) = listener.accept().await else { continue };
        let Some(shared) = shared.upgrade() else { return };
        let control = shared.control.clone();
        control.spawn(async move {
            // A client that leaves early, or sends an unknown line, gets no reply.
            drop(serve(client, &shared).await);
            drop(place);
        });
    }
}

async fn serve(client: UnixStream, shared: &Arc<HostCore>) -> io::Result<()> {
    let mut client = BufReader::new(client);
    let mut line = String::new();
    timeout(REQUEST_TIMEOUT, (&mut client).take(LINE).read_line(&mut line)).await??;
    let mut words = line.split_whitespace();
    match (words.next(), words.next(), words.next().map(str::parse)) {
        (Some("mail"), Some(run_id), Some(Ok(letter))) => deliver(&mut client, shared, run_id, letter).await,
        (Some("follow"), Some(run_id), None) => follow(&mut client, shared, run_id).await,
        (Some("due"), None, None) => {
            shared.due.notify_one();
            shared.pending_schedules.news.notify_one();
            client.write_all(LOOK.as_bytes()).await
        }
        _ => Ok(()),
    }
}

/// Says to look once the letter is answered.
async fn deliver(
    client: &mut BufReader<UnixStream>,
    shared: &Arc<HostCore>,
    run_id: &str,
    letter: u64,
) -> io::Result<()> {
    let entry = shared.registry.entry(&Arc::from(run_id));
    let mut commits = entry.commits.subscribe();
    load::read_requests(shared, run_id).await.map_err(io::Error::other)?;
    while shared.store.answer(run_id, letter).await.map_err(io::Error::other)? == Answer::Waiting {
        if commits.changed().await.is_err() {
            break;
        }
    }
    client.write_all(LOOK.as_bytes()).await
}

/// Says to look at once, and after every commit of the run while it is driven here.
async fn follow(client: &mut BufReader<UnixStream>, shared: &Arc<HostCore>, run_id: &str) -> io::Result<()> {
    let entry = shared.registry.entry(&Arc::from(run_id));
    let mut commits = entry.commits.subscribe();
    loop {
        client.write_all(LOOK.as_bytes()).await?;
        let open =
            shared.store.get(run_id).await.map_err(io::Error::other)?.is_some_and(|row| row.status.open);
        if !open {
            return Ok(());
        }
        let mut gone = [0];
        tokio::select! {
            changed = commits.changed() => if changed.is_err() { return Ok(()) },
            _left = client.read(&mut gone) => return Ok(()),
        }
    }
}
