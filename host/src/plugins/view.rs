//! Plugins as programs and people are shown them, the same on the command line and over HTTP.

mod changes;
mod component;
mod details;
mod grants;
mod row;
mod signature;

pub use self::{
    changes::{AddView, ApprovalView},
    component::interfaces,
    details::{ComponentSource, InspectError, PluginView},
    grants::MissingGrants,
    row::{PluginRow, shadows},
    signature::{PolicyVerdict, SignatureStatus},
};
use super::PluginVersion;

/// State of a version that waits to be approved.
const HELD: &str = "held";
/// State of a version that may be used.
const APPROVED: &str = "approved";

/// The state of a version in a library.
fn state_of(stored: &PluginVersion) -> &'static str {
    if stored.held.is_empty() { APPROVED } else { HELD }
}
