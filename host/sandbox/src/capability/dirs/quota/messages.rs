//! Messages about quotas between a process that runs guests and its parent.

use serde::{Deserialize, Serialize};

use super::usage::{Inode, OverQuota, Removal, Usage};

/// Request of a process about a grant, which is given by its index among those of the plugin.
#[derive(Serialize, Deserialize)]
pub(crate) enum QuotaRequest {
    /// Asks to have the directory counted before it changes something. Has a response.
    Count(u32),
    /// Asks to add an amount. Has a response.
    Take(u32, Usage),
    /// Returns an amount.
    Give(u32, Usage),
    Opened(u32, Inode),
    /// The last field is the file's size.
    Closed(u32, Inode, u64),
    Removed(u32, Removal),
}

#[derive(Serialize, Deserialize)]
pub(crate) enum QuotaResponse {
    Done,
    OverQuota(OverQuota),
    Failed(String),
}
