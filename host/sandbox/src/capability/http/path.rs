//! Paths of requests, as grants compare them.
//!
//! Both a pattern's path and a request's are compared after one normalisation (RFC 3986, section 6.2.2): encoded letters, digits and
//! `-._~` are decoded, and the digits of what stays encoded are capitals. A path that servers may read in another way is ambiguous,
//! and no pattern with a path covers it.

/// Characters that some servers take for a dot, and for a slash.
const DOTS: [char; 4] = ['.', '\u{2024}', '\u{ff0e}', '\u{fe52}'];
const SLASHES: [char; 6] = ['\\', '\u{2044}', '\u{2215}', '\u{29f8}', '\u{ff0f}', '\u{ff3c}'];

/// Returns the path in its normal form.
pub(super) fn normal(path: &str) -> String {
    let mut normal = String::with_capacity(path.len());
    let mut rest = path;
    while let Some((before, encoded)) = rest.split_once('%') {
        normal.push_str(before);
        let Some(byte) = decoded(encoded) else {
            normal.push('%');
            rest = encoded;
            continue;
        };
        let is_unreserved = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        if is_unreserved {
            normal.push(char::from(byte));
        } else {
            normal.push_str(&format!("%{byte:02X}"));
        }
        rest = encoded.get(2..).unwrap_or_default();
    }
    normal + rest
}

/// Returns whether servers may read another path in it: parts that lead up or nowhere, plainly or encoded, with parameters or blanks
/// behind them; encoded slashes and percent signs; and bytes that are no characters, as overlong ones are.
pub(super) fn is_ambiguous(path: &str) -> bool {
    let Some(decoded) = decode(path) else { return true };
    let encoded = path.to_ascii_lowercase();
    path.contains("//")
        || encoded.contains("%2f")
        || encoded.contains("%25")
        || decoded.contains(|c: char| c.is_control() || SLASHES.contains(&c))
        || decoded.split('/').any(leads_elsewhere)
}

/// Returns whether a part is one of dots alone, once a server has cut off its parameters and trimmed it.
fn leads_elsewhere(part: &str) -> bool {
    let name = part.split(';').next().unwrap_or_default();
    let name = name.trim_matches(|c: char| c.is_whitespace() || c == '\u{200b}' || c == '\u{feff}');
    // U+2025 and U+2026 are two and three dots.
    !name.is_empty() && name.chars().all(|c| DOTS.contains(&c) || c == '\u{2025}' || c == '\u{2026}')
}

/// Decodes a path; none where that gives no text.
fn decode(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path;
    while let Some((before, encoded)) = rest.split_once('%') {
        bytes.extend_from_slice(before.as_bytes());
        bytes.push(decoded(encoded)?);
        rest = encoded.get(2..)?;
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8(bytes).ok()
}

/// Returns the byte that two digits at the beginning stand for.
fn decoded(digits: &str) -> Option<u8> {
    let digits = digits.get(..2).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u8::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-I21.
    #[test]
    fn a_path_has_one_normal_form() {
        for (path, expected) in [
            ("/v1/x", "/v1/x"),
            ("/%76%31/%7Ea%2db%5F%2E", "/v1/~a-b_."),
            ("/a%20b%c3%a9%2f", "/a%20b%C3%A9%2F"),
            ("/%", "/%"),
            ("/%4", "/%4"),
            ("/%zz%41", "/%zzA"),
            ("/%%34%31", "/%41"),
        ] {
            assert_eq!(normal(path), expected, "{path}");
        }
    }

    /// R-I21: whatever a server may read as a way up makes a path ambiguous.
    #[test]
    fn what_servers_may_read_in_another_way_is_ambiguous() {
        for path in [
            "/v1/../x",
            "/v1/./x",
            "/v1/..",
            "/v1/%2e%2E/x",
            "/v1/.%2e/x",
            "/v1/..;a=b/x",
            "/v1/..%3b/x",
            "/v1/..%3B%20/x",
            "/v1/;/../x",
            "/v1/..%20/x",
            "/v1/%20../x",
            "/v1/..%09/x",
            "/v1/..%a0/x",
            "/v1/..%c2%a0/x",
            "/v1/.../x",
            "/v1/%u002e%u002e/x",
            "/v1/..%u2215x",
            "/v1/..%c0%af../x",
            "/v1/%c0%ae%c0%ae/x",
            "/v1/%e0%80%ae/x",
            "/v1/%f0%80%80%ae/x",
            "/v1/%ef%bc%8e%ef%bc%8e/x",
            "/v1/%e2%80%a5/x",
            "/v1/a%ef%bc%8fb",
            "/v1/a%e2%88%95b",
            "/v1//x",
            "/v1/a%2fb",
            "/v1/a%5Cb",
            "/v1/a\\b",
            "/v1/a%252fb",
            "/v1/a%00",
            "/v1/a%0a",
            "/v1/a%7f",
            "/v1/a%",
            "/v1/a%4",
            "/v1/a%g1",
            "/v1/%ff",
        ] {
            assert!(is_ambiguous(path), "{path}");
            assert!(is_ambiguous(&normal(path)), "{path} in its normal form");
        }
        for path in [
            "/",
            "/v1/a%20b",
            "/v1/a;b=c",
            "/v1/a%3Bb",
            "/v1/..a",
            "/v1/.well-known/x",
            "/v1/caf%c3%a9",
            "/v1/a..b",
        ] {
            assert!(!is_ambiguous(path), "{path}");
        }
    }
}
