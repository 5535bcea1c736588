//! Formats of stores, and the versions that may use them.
//!
//! A store has the format of the latest version that migrated it, and a minimum: versions that know that format or a later one may
//! read and write. A migration that only adds leaves the minimum as it is, so that the version before goes on next to the new one.

/// Format of the stores that this version makes. A step that only adds to them raises it.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(super) const FORMAT: i64 = 3;

/// Choice of a caller that opens a store of an earlier format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Migration {
    /// The store is refused with [`StoreError::Older`](super::StoreError::Older) and left as it is, so that the hosts that use it go
    /// on.
    #[default]
    Refuse,
    /// The store gets the format of this version. Hosts of versions that do not know it are refused from then on.
    Apply,
}

/// How a store that exists may be used.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compatibility {
    /// The format of this version, or a later one that this version may use.
    Usable,
    /// An earlier format, which has to be migrated.
    Older,
    /// A later format, which this version may not use.
    Newer,
}

#[cfg(any(feature = "postgres", feature = "sqlite"))]
impl Compatibility {
    /// Judges a store by its format and its minimum.
    pub(super) fn of(format: i64, minimum: i64) -> Self {
        if format < FORMAT {
            Self::Older
        } else if format == FORMAT || minimum <= FORMAT {
            Self::Usable
        } else {
            Self::Newer
        }
    }
}
