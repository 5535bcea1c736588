//! Who survives the hostile guests of `tests/hostile`: this host, or the one that `PHASM_HOSTILE_HOST` names.
//!
//! ```text
//!  case.toml, guest.wat ──stage──▶ folder ──▶ a process of the host: copies of the guest beside innocent ones
//!                                                    │ one line of JSON
//!  who survives ◀──────────────judge─────────────────┘  or nothing, in time
//! ```
//!
//! Every case has a process of its own, so that one that does not survive takes no other with it.

#![expect(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests")]

use std::{
    env,
    path::{Path, PathBuf},
    process::ExitCode,
};

mod case;
mod host;
mod judge;
mod page;
mod stage;

use case::Case;

/// Says to this program's host where guests run: `process`, or beside each other.
const TIER: &str = "PHASM_HOSTILE_TIER";

/// Says to this program that it is the host.
const AS_HOST: &str = "PHASM_HOSTILE_AS_HOST";

fn suite() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("hostile")
}

fn main() -> ExitCode {
    // The host's own children are this program, too.
    phasm::sandbox::child::serve_if_asked();
    let arguments: Vec<String> = env::args().skip(1).collect();
    if env::var_os(AS_HOST).is_some() {
        host::run(Path::new(arguments.first().unwrap()));
    }
    let filters: Vec<_> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    let wanted = |case: &Case| filters.is_empty() || filters.iter().any(|filter| case.name.contains(*filter));
    let cases = Case::all(&suite());
    if arguments.iter().any(|argument| argument == "--list") {
        cases.iter().for_each(|case| println!("{}: test", case.name));
        return ExitCode::SUCCESS;
    }
    page::check(&suite(), &cases);
    let cases: Vec<_> = cases.into_iter().filter(wanted).collect();
    let fallen = judge::all(&cases);
    println!("\n{} cases, {fallen} times not survived", cases.len());
    if fallen == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
