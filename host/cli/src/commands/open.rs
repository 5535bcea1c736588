//! `phasm open`: the page of a server in the browser.

mod browser;

use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use clap::Args;
use phasm_server::client::Remote;

use crate::{
    address::own,
    backend::TargetArguments,
    command_line::Target,
    drive,
    exit::Exit,
    failure::Failure,
    paths::{self, KEY},
    store::run_id,
    terminal::{screen::Screen, text},
    user_dirs,
};

/// Page that the browser is shown to sign it in.
const BRIDGE: &str = "open.html";

/// Opens the page of a server, or of one of its runs, in the browser, and prints its address.
///
/// The server is the one of `--server`, else the one that serves the store on this machine. If the server asks for keys, the key in PHASM_KEY signs the
/// browser in; the key is never on the browser's command line. The browser is the one in BROWSER, or the system's (`xdg-open`, `open`).
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  phasm open\n  phasm open @last\n  phasm open RUN --server https://phasm.example.com"
)]
pub(crate) struct OpenArguments {
    /// The run: its id, 4 or more characters that only its id begins or ends with, or `@last`.
    #[arg(value_name = "RUN")]
    run: Option<String>,

    #[command(flatten)]
    store: TargetArguments,
}

/// Opens the page.
pub(super) fn open(arguments: &OpenArguments, screen: &Screen) -> Result<Exit, Failure> {
    let remote = Remote::new(&arguments.store.server_url()?, paths::text(KEY)).map_err(Failure::call)?;
    let (url, shown) = drive::runtime()?.block_on(addresses(&remote, arguments.run.as_deref()))?;
    let _gone = screen.out(&format!("{url}\n"));
    if !browser::show(&shown) {
        let why = "no browser could be started: open that address in one, or name one in BROWSER\n";
        screen.err(&format!("{} {why}", text::doubtful("warning:")));
    }
    Ok(Exit::Done)
}

/// Where the page is, and what the browser is called with.
async fn addresses(remote: &Remote, run: Option<&str>) -> Result<(String, String), Failure> {
    remote.is_there().await.map_err(Failure::server)?;
    let path = match run {
        Some(run) => {
            let run_id = run_id::find(remote, run, &Target::to_server(remote.url())).await?;
            format!("/runs/{run_id}")
        }
        None => "/".to_owned(),
    };
    let url = format!("{}{path}", remote.url());
    let shown = shown(remote, &url, &path).await?;
    Ok((url, shown))
}

/// Returns the address that the browser is called with: the page, or a file that leads there and signs in.
/// The key is not in the address, as others on this machine see the arguments of programs.
async fn shown(remote: &Remote, url: &str, path: &str) -> Result<String, Failure> {
    if paths::set(KEY).is_none() {
        return Ok(url.to_owned());
    }
    let ticket = remote.ticket().await.map_err(Failure::server)?;
    let address = format!("{}/login?ticket={ticket}&to={path}", remote.url());
    let Some(dir) = user_dirs::data_dir() else { return Ok(url.to_owned()) };
    // Without it the browser asks for the key.
    Ok(bridge(&dir, &address).map_or_else(|_| url.to_owned(), |file| file.to_string_lossy().into_owned()))
}

/// Writes a file, readable by this user alone, that leads to an address.
fn bridge(dir: &Path, address: &str) -> io::Result<PathBuf> {
    fs::create_dir_all(dir)?;
    let file = dir.join(BRIDGE);
    drop(fs::remove_file(&file));
    let address = address.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
    let page = format!(
        "<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\"><title>Phasm</title>\
         <meta http-equiv=\"refresh\" content=\"0;url={address}\"><p><a href=\"{address}\">Continue to the page</a></p></html>\n"
    );
    own(OpenOptions::new().create_new(true).write(true)).open(&file)?.write_all(page.as_bytes())?;
    Ok(file)
}
