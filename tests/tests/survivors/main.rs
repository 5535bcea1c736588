//! Runs the hostile guests of `tests/hostile` against this host, or the one that `PHASM_HOSTILE_HOST` names.
//!
//! ```text
//!  NAME.wat ──────────────stage──▶ folder ──▶ a process of the host: copies of the guest beside innocent ones
//!                                                    │ one line of JSON
//!  verdict ◀───────────────────judge─────────────────┘  or nothing, in time
//! ```
//!
//! Every case has a process of its own, so that one that does not survive takes no other with it. In the end all of them are
//! called again and again within one process (`flat`).

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "tests"
)]

use std::{
    env,
    path::{Path, PathBuf},
    process::ExitCode,
};

mod case;
mod flat;
mod host;
mod judge;
mod page;
mod server;
mod stage;

use case::Case;

/// Where guests run: beside each other, or in processes of their own.
const TIERS: &[&str] = &["shared", "process"];

/// Says to this program's host where guests run: `process`, or beside each other.
const TIER: &str = "PHASM_HOSTILE_TIER";

/// Where this program's hosts keep compiled code for each other.
const CACHE: &str = "PHASM_HOSTILE_CACHE";

/// Says to this program that it is the host.
const AS_HOST: &str = "PHASM_HOSTILE_AS_HOST";

fn suite() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("hostile")
}

fn main() -> ExitCode {
    // The host's own children are this program, too.
    phasm::sandbox::child::serve_if_asked();
    let arguments: Vec<String> = env::args().skip(1).collect();
    match env::var(AS_HOST).as_deref() {
        Err(_) => {}
        Ok(flat::AS_HOST) => flat::run(arguments.first().unwrap().parse().unwrap()),
        Ok(_) => host::run(Path::new(arguments.first().unwrap())),
    }
    let filters: Vec<_> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    let wanted = |case: &Case| filters.is_empty() || filters.iter().any(|filter| case.name.contains(*filter));
    let cases = Case::all(&suite());
    if arguments.iter().any(|argument| argument == "--list") {
        cases.iter().map(|case| &*case.name).chain([flat::NAME]).for_each(|name| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    page::check(&suite(), &cases);
    let is_flat =
        judge::is_own() && (filters.is_empty() || filters.iter().any(|filter| flat::NAME.contains(*filter)));
    let cache = tempfile::tempdir().unwrap();
    let cases: Vec<_> = cases.into_iter().filter(wanted).collect();
    let fallen = judge::all(&cases, cache.path());
    let flat = if is_flat { flat::judge(cache.path()) } else { Ok(()) };
    println!("\n{} cases, {fallen} times not survived", cases.len());
    if let Err(why) = &flat {
        println!("{}: {why}", flat::NAME);
    }
    if fallen == 0 && flat.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
