//! Every kind of problem and warning there is, with an explanation and an example.
//!
//! A [`Problem`](crate::problem::Problem) can be made from an [`Entry`] only, so that none is without an explanation.
//! Codes are stable: they are never reused for another kind.

pub mod bindings;
pub mod executors;
pub mod expressions;
pub mod functions;
pub mod names;
pub mod schedules;
pub mod shape;
pub mod source;
pub mod values;
pub mod warnings;

/// One kind of problem (`P…`) or warning (`W…`).
#[derive(Debug, PartialEq, Eq)]
pub struct Entry {
    /// The stable code.
    pub code: &'static str,
    /// A few words.
    pub title: &'static str,
    /// Why it is one, and what to do.
    pub explanation: &'static str,
    /// An example that has it.
    pub wrong: &'static str,
    /// The example with the fault fixed.
    pub right: &'static str,
}

/// Declares entries and the list of them.
macro_rules! entries {
    ($($name:ident $code:literal $title:literal, $explanation:literal, $wrong:literal => $right:literal;)*) => {
        $(
            #[doc = $title]
            pub static $name: $crate::problem::codes::Entry = $crate::problem::codes::Entry {
                code: $code,
                title: $title,
                explanation: $explanation,
                wrong: $wrong,
                right: $right,
            };
        )*
        /// All entries of this module, by code.
        pub static ENTRIES: &[&$crate::problem::codes::Entry] = &[$(&$name),*];
    };
}
pub(crate) use entries;

/// All entries, by code.
pub fn all() -> impl Iterator<Item = &'static Entry> {
    let groups = [
        source::ENTRIES,
        shape::ENTRIES,
        names::ENTRIES,
        values::ENTRIES,
        expressions::ENTRIES,
        bindings::ENTRIES,
        schedules::ENTRIES,
        executors::ENTRIES,
        functions::ENTRIES,
        warnings::ENTRIES,
    ];
    groups.into_iter().flatten().copied()
}

/// The entry of `code`, in either case.
#[must_use]
pub fn find(code: &str) -> Option<&'static Entry> {
    all().find(|entry| entry.code.eq_ignore_ascii_case(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_in_order() {
        let codes: Vec<_> = all().map(|entry| entry.code).collect();
        let mut sorted = codes.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(codes, sorted);
        assert_eq!(find("p001").map(|entry| entry.code), Some("P001"));
    }
}
