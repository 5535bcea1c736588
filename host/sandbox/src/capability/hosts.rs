//! Hosts that guests may reach, for the capabilities that leave this machine: their names and addresses, the patterns of grants, and
//! the look-up. A host has one reading, and a connection goes to an address that was checked.

#![cfg_attr(not(feature = "http"), expect(dead_code, reason = "what grants say is read without it, too"))]

pub(super) mod name;
pub(crate) mod network;
pub(super) mod pattern;
#[cfg(feature = "http")]
pub(super) mod resolver;
