//! Resources that an attempt used, measured by the host that executed it. They are recorded and added up; no decision depends on
//! them.

use serde::{Deserialize, Serialize};

/// Resources used by one attempt, or by several together; all zero where nothing was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ResourceUsage {
    /// Time computed, in microseconds.
    pub cpu_us: u64,
    /// Memory when it was largest, in [pages](Self::PAGE).
    pub pages: u32,
    /// Calls of its host.
    pub calls: u32,
    /// Bytes that it was given by files and from elsewhere.
    pub bytes_in: u64,
    /// Bytes that it wrote to files and sent elsewhere.
    pub bytes_out: u64,
}

impl ResourceUsage {
    /// Bytes of a page.
    pub const PAGE: u64 = 65_536;

    /// Whether nothing was measured.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Both together; of memory the larger.
    #[must_use]
    pub fn and(self, more: Self) -> Self {
        Self {
            cpu_us: self.cpu_us.saturating_add(more.cpu_us),
            pages: self.pages.max(more.pages),
            calls: self.calls.saturating_add(more.calls),
            bytes_in: self.bytes_in.saturating_add(more.bytes_in),
            bytes_out: self.bytes_out.saturating_add(more.bytes_out),
        }
    }

    /// Memory when it was largest, in bytes.
    #[must_use]
    pub fn memory(&self) -> u64 {
        u64::from(self.pages).saturating_mul(Self::PAGE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_adds_up_but_for_memory() {
        let one = ResourceUsage { cpu_us: 1, pages: 7, calls: 3, bytes_in: 4, bytes_out: u64::MAX };
        let other = ResourceUsage { cpu_us: 10, pages: 2, calls: u32::MAX, bytes_in: 40, bytes_out: 1 };
        let both = ResourceUsage { cpu_us: 11, pages: 7, calls: u32::MAX, bytes_in: 44, bytes_out: u64::MAX };
        assert_eq!((one.and(other), one.and(ResourceUsage::default())), (both, one));
        assert!(ResourceUsage::default().is_nothing() && !one.is_nothing());
        assert_eq!(one.memory(), 7 * 65_536);
    }
}
