//! The plugin's manifest as JSON, put together at compile time for the custom section `phasm:manifest`.

/// Name, version and description, as Cargo tells them.
pub type Package = [&'static str; 3];

/// How many bytes [`json`] has.
#[must_use]
pub const fn len(package: Package, defaults: &str) -> usize {
    manifest::<0>(package, defaults).len
}

/// The manifest; `N` is its [`len`]. `defaults` are the members of the default policies, each with a comma before it.
#[must_use]
pub const fn json<const N: usize>(package: Package, defaults: &str) -> [u8; N] {
    manifest(package, defaults).bytes
}

const fn manifest<const N: usize>([name, version, description]: Package, defaults: &str) -> Text<N> {
    let text = Text { bytes: [b' '; N], len: 0 };
    let text = text.raw("{\"name\":\"").escaped(name);
    let text = text.raw("\",\"version\":\"").escaped(version);
    text.raw("\",\"description\":\"").escaped(description).raw("\"").raw(defaults).raw("}")
}

/// Keeps the first `N` bytes and counts all.
struct Text<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

#[expect(clippy::indexing_slicing, reason = "bounds are checked beside; const functions have no iterators")]
impl<const N: usize> Text<N> {
    const fn raw(mut self, text: &str) -> Self {
        let mut at = 0;
        while at < text.len() {
            self = self.byte(text.as_bytes()[at]);
            at += 1;
        }
        self
    }

    const fn escaped(mut self, text: &str) -> Self {
        let mut at = 0;
        while at < text.len() {
            self = match text.as_bytes()[at] {
                byte @ (b'"' | b'\\') => self.byte(b'\\').byte(byte),
                byte @ ..b' ' => self.raw("\\u00").byte(b'0' + (byte >> 4)).byte(hex(byte & 15)),
                byte => self.byte(byte),
            };
            at += 1;
        }
        self
    }

    const fn byte(mut self, byte: u8) -> Self {
        if self.len < N {
            self.bytes[self.len] = byte;
        }
        self.len += 1;
        self
    }
}

const fn hex(digit: u8) -> u8 {
    match digit {
        0..10 => b'0' + digit,
        _ => b'a' + digit - 10,
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use serde_json::{Value, json};

    #[test]
    fn it_is_json_whatever_the_texts_are() {
        const PACKAGE: super::Package = ["greet", "1.2.3", "says \"hi\"\n\tto C:\\ü\u{1f}"];
        const JSON: [u8; super::len(PACKAGE, "")] = super::json(PACKAGE, "");
        let manifest: Value = serde_json::from_slice(&JSON).unwrap();
        let [name, version, description] = PACKAGE;
        assert_eq!(manifest, json!({ "name": name, "version": version, "description": description }));
    }

    const PACKAGE: super::Package = ["greet", "1.2.3", ""];

    #[test]
    fn default_policies_are_members_of_it() {
        const DEFAULTS: &str = crate::executor!(@defaults {
            retry: { maxAttempts: -1, delay: "1s", exponentialBackoff: 1.5, expression: "code == 3" },
            maxRuntime: 5000,
            deadline: { timeout: "1h 30m", errorOnTimeout: true },
        });
        const JSON: [u8; super::len(PACKAGE, DEFAULTS)] = super::json(PACKAGE, DEFAULTS);
        let manifest: Value = serde_json::from_slice(&JSON).unwrap();
        assert_eq!(
            manifest,
            json!({
                "name": "greet", "version": "1.2.3", "description": "", "maxRuntime": 5000,
                "retry": { "maxAttempts": -1, "delay": "1s", "exponentialBackoff": 1.5, "expression": "code == 3" },
                "deadline": { "timeout": "1h 30m", "errorOnTimeout": true },
            })
        );
    }

    #[test]
    fn one_default_or_none() {
        assert_eq!(crate::executor!(@defaults {}), "");
        assert_eq!(crate::executor!(@defaults { maxInactivity: "30s" }), ",\"maxInactivity\":\"30s\"");
        assert_eq!(crate::executor!(@defaults { retry: { limit: 2, } }), ",\"retry\":{\"limit\":2}");
    }
}
