//! `http` and `http-networks` of a grant.

use phasm_engine::form::{Name, Report};

use crate::config::http::patterns;
use phasm_sandbox::HttpGrant;

/// Returns the grant of these patterns; a pattern that grants nothing is reported.
pub(super) fn granted(http: &[Name], networks: &[Name], report: &Report) -> HttpGrant {
    HttpGrant { allow: patterns(http, report), networks: crate::config::http::networks(networks, report) }
}
