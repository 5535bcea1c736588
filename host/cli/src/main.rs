//! The `phasm` command: one file per subcommand in `commands`, and the only place that prints.
//!
//! Layers, each of which uses only those before it: `terminal`, `exit`, `failure`, `paths`; `problems`, `input`, `plugins`; `drive`, which
//! runs workflows in this process; `store` and `submission`; `backend`, a store or a server; `commands`.
//!
//! stdout carries results and nothing else; progress, warnings and log lines go to stderr.

mod address;
mod backend;
mod command_line;
mod commands;
mod drive;
mod exit;
mod failure;
mod input;
mod ownership;
mod paths;
mod plugins;
mod problems;
mod store;
mod submission;
mod telemetry;
mod terminal;
mod trace;
mod user_dirs;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser};

use self::{commands::Command, store::order::store_order, terminal::screen::Screen, trace::LogLevel};

/// Runs make and drop many small things of one size; glibc's allocator costs a run of 100 000 tasks a third of the engine's
/// time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// End of the help: examples, and the order in which commands find runs.
const AFTER_HELP: &str = concat!(
    "Examples:\n  phasm run greet.yaml -p who=Ada\n  phasm validate greet.yaml\n  phasm plugin new greet\n  phasm help approve\n\n\
     Commands find runs in this order: ",
    store_order!(),
    "."
);

/// Version, commit and target, as `--version` prints them.
const LONG_VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\ncommit: ",
    env!("PHASM_BUILD_COMMIT"),
    "\ndate: ",
    env!("PHASM_BUILD_DATE"),
    "\ntarget: ",
    env!("PHASM_BUILD_TARGET"),
);

/// Runs workflows whose every step is a sandboxed WebAssembly component.
#[derive(Debug, Parser)]
#[command(name = "phasm", version, long_version = LONG_VERSION, propagate_version = true, arg_required_else_help = true)]
#[command(after_help = AFTER_HELP)]
struct Arguments {
    #[command(subcommand)]
    command: Command,

    /// The least severe log lines and warnings of the engine to show.
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t, global = true)]
    log_level: LogLevel,
}

fn main() -> ExitCode {
    phasm::sandbox::child::serve_if_asked();
    let Arguments { command, log_level } = Arguments::parse();
    let screen = Screen::new();
    trace::install(&screen, log_level, command.log_format());
    // The spans of `serve` belong to its callers.
    let caller = if matches!(command, Command::Serve(_)) { None } else { telemetry::caller() };
    let done =
        phasm::spans::within(caller, || commands::run(command, Arguments::command(), log_level, &screen));
    let exit = done.unwrap_or_else(|failure| failure.report(&screen)).into();
    telemetry::end();
    exit
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asserts that the help of a command and of all below it shows that command being used.
    fn assert_examples(command: &clap::Command, called: &str) {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        assert!(help.contains(&format!("Examples:\n  {called}")), "{called}: {help}");
        for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
            assert_examples(below, &format!("{called} {}", below.get_name()));
        }
    }

    #[test]
    fn every_command_has_an_example() {
        assert_examples(&Arguments::command(), "phasm");
    }
}
