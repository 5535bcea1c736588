//! `phasm health`: whether a server can do its work.

use std::{future::Future, time::Duration};

use clap::Args;
use phasm_server::client::{Remote, RemoteError};
use tokio::time::timeout;

use crate::{
    backend::TargetArguments,
    drive,
    exit::Exit,
    failure::Failure,
    input::times,
    terminal::{screen::Screen, text},
};

/// Asks a server whether it can do its work, and prints the response in one line.
///
/// The exit status is 0 if the server is ready: its store can be read, and it is not stopping. It is 1 if the server is not ready, cannot be
/// reached or does not respond in time, and 2 if the command line is wrong or names no server. The server is the one of `--server`, else the
/// one that serves the store on this machine. No key is needed, and none is sent.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  phasm health\n  phasm health --server http://127.0.0.1:8484\n  \
                  phasm health --live --timeout 1s --server https://phasm.example.com")]
pub(crate) struct HealthArguments {
    #[command(flatten)]
    server: TargetArguments,

    /// Ask only whether the server responds, and not whether its store can be read.
    #[arg(long)]
    live: bool,

    /// How long the response may take.
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = times::length)]
    timeout: Duration,
}

/// Asks the server.
pub(super) fn health(arguments: &HealthArguments, screen: &Screen) -> Result<Exit, Failure> {
    let HealthArguments { server, live, timeout } = arguments;
    let remote = Remote::new(&server.server_url()?, None).map_err(Failure::call)?;
    let asked = async {
        if *live {
            within(*timeout, remote.is_there()).await
        } else {
            within(*timeout, remote.is_ready()).await
        }
    };
    let word = if *live { "up" } else { "ready" };
    let url = text::clean(remote.url());
    drive::runtime()?
        .block_on(asked)
        .map_err(|why| Failure::with(Exit::Failed, format!("{url} is not {word}: {}", text::clean(&why))))?;
    let _gone = screen.out(&format!("{url} is {word}\n"));
    Ok(Exit::Done)
}

/// Returns why a server is not what was asked, if it is not.
async fn within(limit: Duration, asked: impl Future<Output = Result<(), RemoteError>>) -> Result<(), String> {
    match timeout(limit, asked).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(RemoteError::Refused { detail, .. })) => Err(detail),
        Ok(Err(RemoteError::Unreached { why, .. })) => Err(why),
        Err(_late) => Err(format!("no response within {limit:?}; `--timeout` gives it more time")),
    }
}
