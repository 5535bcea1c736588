//! `tcp` and `tcp-networks` of a grant.

use phasm_engine::form::{Name, Report};

use crate::config::{
    codes,
    http::{networks, parsed},
};
use phasm_sandbox::TcpGrant;

/// Returns the grant of these patterns; a pattern that grants nothing is reported.
pub(super) fn granted(tcp: &[Name], within: &[Name], report: &Report) -> TcpGrant {
    let allow = tcp.iter().filter_map(|text| parsed(text, &codes::NO_TCP_PATTERN, report)).collect();
    TcpGrant { allow, networks: networks(within, report) }
}
