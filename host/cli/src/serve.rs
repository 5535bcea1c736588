//! `phasm serve`: a host that drives what is due in a store, until it is told to end.

mod telling;

use std::num::NonZeroUsize;

use clap::Args;
use tokio::{
    sync::broadcast::{Receiver, error::RecvError},
    time::sleep,
};

use self::telling::Telling;
use super::{
    drive::{self, Configured, Grace, Prepared, Purpose, abandon},
    exit::Exit,
    failure::{Failure, While},
    hint::Way,
    places::Places,
    screen::Screen,
    signals::{Interrupts, Told},
    stored::StoreArgument,
};

/// Drives every run of a store that is due, whoever submitted it, until SIGTERM or Ctrl-C.
///
/// Runs that wait for people or for a far-off clock are kept in the store alone. Any number of these may serve one database,
/// and one of them a file. Runs stay open when it ends: with 143 after SIGTERM, once attempts had their time to end; with 130
/// after Ctrl-C, at once.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm serve --store runs.db\n  \
                        phasm serve --store postgres://phasm@db/phasm --config phasm.toml --json")]
pub(super) struct ServeArguments {
    #[command(flatten)]
    store: StoreArgument,

    #[command(flatten)]
    places: Places,

    /// How many threads decide what runs do next; a quarter of the machine's unless it is configured.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,

    #[command(flatten)]
    grace: Grace,

    /// Print what becomes of runs to stdout, one JSON object a line.
    #[arg(long)]
    json: bool,
}

/// Serves a store.
pub(super) fn serve(arguments: &ServeArguments, screen: &Screen) -> Result<Exit, Failure> {
    let runtime = drive::runtime()?;
    let (prepared, told) = runtime.block_on(serving(arguments, screen))?;
    runtime.shutdown_background();
    prepared.host.close();
    let way = Way::to(&arguments.store.named()?).with(&arguments.places);
    screen.err(&format!("go on with: {}\n", way.command(&["serve"])));
    Ok(told.exit())
}

async fn serving(arguments: &ServeArguments, screen: &Screen) -> Result<(Prepared, Told), Failure> {
    let ServeArguments { store, places, threads, grace, json } = arguments;
    let mut interrupts = Interrupts::listen()
        .map_err(|error| Failure::host(While::new("interrupts cannot be heard", error)))?;
    let path = store.named()?;
    let configured = Configured::read(places, screen, *json)?;
    let purpose = Purpose { claims: true, threads: *threads, ..Purpose::default() };
    let prepared = drive::open(places, configured, screen, purpose)?;
    prepared.create_dirs()?;
    // Of all that is claimed, which begins with the store.
    let mut tidings = prepared.host.tidings();
    let telling = Telling { screen: screen.clone(), as_json: *json };
    let prepared = tokio::select! {
        opened = prepared.with_room(&path, |full| telling.wait(full)) => opened?,
        heard = interrupts.next() => abandon(heard.told),
    };
    prepared.tell_tenants().await?;
    telling.begin(&prepared.host, &path);
    let told = tokio::select! {
        () = tell_all(&telling, &mut tidings) => Told::Interrupt,
        heard = interrupts.next() => heard.told,
    };
    prepared.host.begin_no_more();
    let left = async {
        telling.end(told, grace.grace);
        if told == Told::Terminate {
            tokio::select! {
                () = prepared.host.nothing_executes() => {}
                () = sleep(grace.grace) => {}
            }
        }
    };
    tokio::select! {
        () = left => {}
        () = tell_all(&telling, &mut tidings) => {}
        heard = interrupts.next() => abandon(heard.told),
    }
    Ok((prepared, told))
}

/// Tells what becomes of runs until nobody reads it.
async fn tell_all(telling: &Telling, tidings: &mut Receiver<phasm::Tiding>) {
    loop {
        let told = match tidings.recv().await {
            Ok(tiding) => telling.tell(&tiding),
            Err(RecvError::Lagged(count)) => telling.left_out(count),
            Err(RecvError::Closed) => return,
        };
        if told.is_err() {
            return;
        }
    }
}
