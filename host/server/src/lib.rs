//! Phasm over HTTP: an API, and a page for people.
//!
//! ```text
//! connection ─ limits, TLS ─▶ guard ─ Host and Origin, headers ─▶ routes ─ key and role, body ─▶ Host
//! ```
//!
//! A [`Server`] is made of a [`phasm::Host`]; it listens by itself, or is mounted as a [`Server::router`]:
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use phasm::Host;
//! use phasm_server::{Server, ServerConfig};
//!
//! # async fn embed() -> Result<(), Box<dyn std::error::Error>> {
//! let server = Server::new(Arc::new(Host::builder().open()?), ServerConfig::default())?;
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:8484").await?;
//! server.serve(listener, std::future::pending()).await?;
//! # Ok(()) }
//! ```

mod answer;
mod artifacts;
mod audit;
mod auth;
pub mod client;
mod config;
mod connection;
mod disconnect;
mod document;
mod feed;
mod guard;
mod health;
mod hidden_paths;
mod metrics;
mod openapi;
mod page;
mod plugins;
mod problem_response;
mod query;
mod request;
mod resources;
mod route;
mod routes;
mod runs;
mod saved;
mod server;
mod sse;
mod state;
mod streams;
mod tickets;
mod tls;
mod turns;
mod validate;
mod wire;
mod work_threads;
mod write_timeout;

pub use self::{
    audit::AUDIT_TARGET,
    auth::keys,
    config::{ServerConfig, ServerLimits, TlsFiles},
    routes::api_description,
    server::{Server, ServerError},
};
