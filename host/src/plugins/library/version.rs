//! Which versions a document means.

use std::cmp::Ordering;

use semver::Version;

/// The part after the `@`: a version, or a prefix of one.
pub(crate) enum VersionRequest<'a> {
    /// Exactly this text.
    Exactly(&'a str),
    /// Any version that begins so and is no pre-release; the highest is meant.
    Beginning {
        /// The first number.
        major: u64,
        /// The second, if it was said.
        minor: Option<u64>,
    },
}

impl<'a> VersionRequest<'a> {
    pub(crate) fn read(text: &'a str) -> Self {
        let mut numbers = text.split('.').map(number);
        match (numbers.next(), numbers.next(), numbers.next()) {
            (Some(Some(major)), None, None) => Self::Beginning { major, minor: None },
            (Some(Some(major)), Some(Some(minor)), None) => Self::Beginning { major, minor: Some(minor) },
            _ => Self::Exactly(text),
        }
    }

    /// Whether it may mean that version.
    pub(crate) fn fits(&self, version: &str) -> bool {
        match self {
            Self::Exactly(text) => *text == version,
            Self::Beginning { major, minor } => version.parse::<Version>().is_ok_and(|version| {
                version.pre.is_empty()
                    && version.major == *major
                    && minor.is_none_or(|minor| minor == version.minor)
            }),
        }
    }
}

/// Reads a number of semantic versioning: digits without a leading zero.
fn number(text: &str) -> Option<u64> {
    let is_plain = text.bytes().all(|b| b.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    if is_plain { text.parse().ok() } else { None }
}

/// The higher version first; what is no version comes last.
pub(crate) fn higher(a: &str, b: &str) -> Ordering {
    b.parse::<Version>().ok().cmp(&a.parse::<Version>().ok())
}

/// Returns true for a pre-release, which only an exact request selects.
pub(crate) fn is_prerelease(version: &str) -> bool {
    version.parse::<Version>().is_ok_and(|version| !version.pre.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-I31.
    #[test]
    fn the_beginning_of_a_version_means_those_that_begin_so() {
        let all = ["0.9.0", "1.2.0", "1.2.10", "1.2.9", "1.3.0-rc.1", "1.10.0", "2.0.0-beta.1", "nightly"];
        let highest = |text: &str| {
            let asked = VersionRequest::read(text);
            let mut fitting: Vec<_> = all.into_iter().filter(|version| asked.fits(version)).collect();
            fitting.sort_by(|a, b| higher(a, b));
            fitting.first().copied()
        };
        let rows = [
            ("1", Some("1.10.0")),
            ("1.2", Some("1.2.10")),
            ("1.2.9", Some("1.2.9")),
            ("1.3", None),
            ("1.3.0-rc.1", Some("1.3.0-rc.1")),
            ("2", None),
            ("0", Some("0.9.0")),
            ("nightly", Some("nightly")),
            ("01", None),
            ("1.", None),
            ("", None),
            ("1.2.9.0", None),
        ];
        for (text, expected) in rows {
            assert_eq!(highest(text), expected, "{text}");
        }
        assert!(is_prerelease("2.0.0-beta.1") && !is_prerelease("2.0.0+x") && !is_prerelease("nightly"));
    }
}
