//! `phasm top`: a live view of a store or a server.

#[cfg(unix)]
mod keys;
mod observer;
mod page;
mod series;

use std::time::Duration;

use clap::Args;

use self::{
    observer::{Observer, Snapshot},
    page::{Arrangement, SortOrder},
};
use crate::{
    backend::TargetArguments,
    drive::runtime,
    exit::Exit,
    failure::Failure,
    input::times,
    problems,
    terminal::{screen::Screen, signals::Interrupts},
};

/// Shows the open runs of a store or a server, the busiest first, and the load of its host.
///
/// On a terminal the view is live until `q` is pressed; otherwise it is printed once.
///
/// For a server, `--server`, it also shows slots, attempts that wait for a slot, and attempts and commits per second; a store alone
/// does not know that. Keys: `s` sorts by something else, `j` and `k` or the arrows scroll, `q` ends it.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  phasm top --store runs.db\n  phasm top --server http://127.0.0.1:8484\n  \
                        phasm top --store runs.db --json | jq '.runs'"
)]
pub(crate) struct TopArguments {
    #[command(flatten)]
    store: TargetArguments,

    /// How often to look again, on a terminal: once a second at most.
    #[arg(long, value_name = "LENGTH", default_value = "2s", value_parser = times::length)]
    every: Duration,

    /// Print once, as a JSON object, to stdout.
    #[arg(long)]
    json: bool,
}

/// The least pause between two looks.
const MIN_INTERVAL: Duration = Duration::from_secs(1);

/// Shows what goes on.
pub(super) fn top(arguments: &TopArguments, screen: &Screen) -> Result<Exit, Failure> {
    let TopArguments { store, every, json } = arguments;
    let mut looking = Observer::new(store.read()?);
    runtime()?.block_on(async {
        let interrupts = Interrupts::listen()
            .map_err(|error| Failure::host(format!("failed to install signal handlers: {error}")))?;
        let first = looking.look().await.map_err(Failure::host)?;
        if *json || !screen.takes_keys() {
            let page = if *json { problems::json(screen, &first.json()) } else { page::plain(&first) };
            // A closed stdout ends the output.
            let _gone = screen.out(&page);
            return Ok(Exit::Done);
        }
        live(looking, first, (*every).max(MIN_INTERVAL), screen, interrupts).await
    })
}

#[cfg(not(unix))]
async fn live(
    _: Observer,
    first: Snapshot,
    _: Duration,
    screen: &Screen,
    _: Interrupts,
) -> Result<Exit, Failure> {
    let _gone = screen.out(&page::plain(&first));
    std::future::ready(Ok(Exit::Done)).await
}

/// Draws until the user ends it.
#[cfg(unix)]
async fn live(
    looking: Observer,
    first: Snapshot,
    every: Duration,
    screen: &Screen,
    mut interrupts: Interrupts,
) -> Result<Exit, Failure> {
    use tokio::{
        signal::unix::{SignalKind, signal},
        sync::watch,
    };

    use self::keys::Key;

    let failed = |error| Failure::host(format!("the terminal cannot be used: {error}"));
    let mut resized = signal(SignalKind::window_change()).map_err(failed)?;
    let mut whole = screen.whole().map_err(failed)?;
    let mut pressed = keys::listen();
    let (tells, mut told) = watch::channel(Ok(first));
    tokio::spawn(look_again(looking, every, tells));
    let mut arranged = Arrangement::default();
    loop {
        let lines = page::frame(&told.borrow_and_update(), &mut arranged, whole.size().0);
        whole.draw(&lines).map_err(failed)?;
        tokio::select! {
            heard = interrupts.next() => return Ok(heard.told.exit()),
            _ = resized.recv() => {}
            changed = told.changed() => drop(changed),
            key = pressed.recv() => match key {
                None | Some(Key::Quit) => return Ok(Exit::Done),
                Some(Key::Up) => arranged.first = arranged.first.saturating_sub(1),
                Some(Key::Down) => arranged.first += 1,
                Some(Key::Sort) => arranged.sorted = arranged.sorted.next(),
            },
        }
    }
}

/// Takes snapshots until the receiver is gone.
#[cfg(unix)]
async fn look_again(
    mut looking: Observer,
    every: Duration,
    tells: tokio::sync::watch::Sender<Result<Snapshot, String>>,
) {
    loop {
        tokio::select! {
            () = tells.closed() => return,
            () = tokio::time::sleep(every) => {}
        }
        let seen = looking.look().await.map_err(|error| error.to_string());
        drop(tells.send_replace(seen));
    }
}

impl SortOrder {
    /// Returns the next order.
    const fn next(self) -> Self {
        match self {
            Self::Busiest => Self::Oldest,
            Self::Oldest => Self::Newest,
            Self::Newest => Self::Busiest,
        }
    }
}
