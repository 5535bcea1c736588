//! The `phasm` command as its users see it: exit statuses, stdout, stderr.
//!
//! Plugins are guests in text format, so that nothing has to be built.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]

mod bench;
#[cfg(unix)]
mod cluster;
mod config;
mod crash;
mod damaged;
#[cfg(unix)]
mod database;
mod generated;
mod graph;
mod health;
mod http;
#[cfg(unix)]
mod idle;
mod interrupts;
mod keeping;
mod large;
#[cfg(unix)]
mod library;
mod live;
mod logs;
mod notify;
mod plugin;
mod plugin_go;
mod plugin_test;
#[cfg(unix)]
mod registry;
#[cfg(unix)]
mod remote;
mod rerun;
mod run;
#[cfg(unix)]
mod schedules;
#[cfg(unix)]
mod serve;
mod stored;
#[cfg(unix)]
mod strangers;
mod tenants;
#[cfg(target_os = "linux")]
mod terminal;
#[cfg(unix)]
mod traces;
#[cfg(unix)]
mod uploads;
mod validate;
