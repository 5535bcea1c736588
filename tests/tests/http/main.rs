//! The shipped `http` against a server of its own: what is granted gets through, nothing else does, and what the server does becomes
//! what a document can go by.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]

mod approval;
mod egress;
mod grants;
mod guest;
mod limits;
mod lines;
mod seed;
mod server;
mod tls;
