//! Messages about quotas between a process that runs guests and its parent.

use serde::{Deserialize, Serialize};

use super::usage::{Inode, OverQuota, Removal, Usage};

/// What a process has to say of a grant, by its place among those of the plugin.
#[derive(Serialize, Deserialize)]
pub(crate) enum QuotaRequest {
    /// It is about to change something: what lies there has to be known. Answered.
    Count(u32),
    /// It wants to add so much. Answered.
    Take(u32, Usage),
    /// So much is there no longer.
    Give(u32, Usage),
    Opened(u32, Inode),
    /// With the file's size.
    Closed(u32, Inode, u64),
    Removed(u32, Removal),
}

#[derive(Serialize, Deserialize)]
pub(crate) enum QuotaResponse {
    Done,
    OverQuota(OverQuota),
    Failed(String),
}
