//! Real processes that are killed, stopped, told to end and lied to by disks, clocks and networks, while they drive runs.
//!
//! Whatever happens: each run that was acknowledged ends, and with the phases, outputs and number of recorded ends that it has
//! undisturbed. `PHASM_TORTURE=1000` kills so often instead of 100 times, and does all else as often as chance has it meanwhile,
//! `PHASM_TORTURE_SEED=S` in the same way again as far as processes and disks are that regular.
#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "tests")]

#[expect(dead_code, reason = "other tests paste commands")]
#[path = "../cli/bench.rs"]
mod bench;
mod client;
mod clock;
mod cluster;
mod damage;
mod digest;
mod file;
mod full;
mod http;
mod process;
mod proxy;
mod random;
mod round;
mod served;
#[path = "../../../src/store/tests/server.rs"]
#[expect(dead_code, reason = "other tests ask it")]
mod server;
mod tally;
mod workload;

use std::env;

/// How many processes are ended by SIGKILL, half of them those of files and half those of a database.
fn kills() -> u32 {
    env::var("PHASM_TORTURE").ok().map_or(100, |text| text.parse().expect("PHASM_TORTURE is a number"))
}
