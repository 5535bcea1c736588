//! Defaults as JSON, read from the Rust expression of a field. Only plain values are recognised.

use super::Schema;

/// A default that JSON can tell.
#[derive(Clone, Copy)]
pub(super) enum Plain {
    /// A whole number that was computed.
    Whole(u64),
    /// JSON as it stands.
    Json(&'static str),
    /// A number, perhaps with underscores.
    Digits(&'static [u8]),
    /// The inside of a text without escapes.
    Text(&'static [u8]),
}

impl Plain {
    /// Returns the plain value that the Rust expression `rust` stands for, as a value of `schema`.
    pub(super) const fn of(rust: &'static str, schema: &Schema) -> Option<Self> {
        let bytes = rust.as_bytes();
        match schema {
            Schema::Optional(schema) => Self::of(rust, schema),
            Schema::Boolean => boolean(rust),
            Schema::Number => number(bytes),
            Schema::Integer { .. } => match shifted(bytes) {
                Some(whole) => Some(Self::Whole(whole)),
                None => number(bytes),
            },
            Schema::String => text(bytes),
            Schema::Choice { words, variants } => choice(bytes, words, variants),
            Schema::List(_) => empty(bytes, &["Vec::new()", "vec![]"], "[]"),
            Schema::Map(_) => empty(bytes, &["Map::new()", "BTreeMap::new()", "Object::default()"], "{}"),
            Schema::Any | Schema::Duration | Schema::Object { .. } => None,
        }
    }
}

const fn boolean(rust: &'static str) -> Option<Plain> {
    match rust.as_bytes() {
        b"true" | b"false" => Some(Plain::Json(rust)),
        _ => None,
    }
}

/// A literal such as `10_000`, `-1` or `0.5`.
const fn number(rust: &'static [u8]) -> Option<Plain> {
    let (mut rest, mut points) = (rust, 0);
    if let [b'-', more @ ..] = rest {
        rest = more;
    }
    // Rust's `1.` and a leading zero are no JSON.
    if !matches!(rest, [b'1'..=b'9', ..] | [b'0'] | [b'0', b'.', ..]) || matches!(rest, [.., b'.']) {
        return None;
    }
    while let [first, more @ ..] = rest {
        match first {
            b'0'..=b'9' | b'_' => {}
            b'.' if points == 0 => points = 1,
            _ => return None,
        }
        rest = more;
    }
    Some(Plain::Digits(rust))
}

/// `4 << 20`, the way to write mebibytes.
const fn shifted(rust: &[u8]) -> Option<u64> {
    let (number, rest) = digits(rust);
    let [b' ', b'<', b'<', b' ', rest @ ..] = rest else { return None };
    let (bits, rest) = digits(rest);
    if number.is_none() || !rest.is_empty() {
        return None;
    }
    match (number, bits) {
        (Some(number), Some(bits)) if bits <= number.leading_zeros() as u64 => Some(number << bits),
        _ => None,
    }
}

/// The number that a text begins with, and what follows.
const fn digits(mut rest: &[u8]) -> (Option<u64>, &[u8]) {
    let mut number = None;
    while let [digit @ b'0'..=b'9', more @ ..] = rest {
        let before = match number {
            Some(number) => number,
            None => 0_u64,
        };
        number = match before.checked_mul(10) {
            Some(tens) => tens.checked_add((*digit - b'0') as u64),
            None => return (None, rest),
        };
        rest = more;
    }
    (number, rest)
}

/// `"…"`, with what makes a `String` of it behind.
const fn text(rust: &'static [u8]) -> Option<Plain> {
    if let b"String::new()" = rust {
        return Some(Plain::Text(b""));
    }
    let [b'"', rest @ ..] = rust else { return None };
    let mut end = 0;
    while let Some((inside, [first, after @ ..])) = rest.split_at_checked(end) {
        match first {
            b'"' => return if makes_a_string(after) { Some(Plain::Text(inside)) } else { None },
            b'\\' | ..b' ' => return None,
            _ => end += 1,
        }
    }
    None
}

const fn makes_a_string(call: &[u8]) -> bool {
    matches!(call, b".to_owned()" | b".to_string()" | b".into()")
}

/// The word of `Path::To::Variant`.
const fn choice(rust: &[u8], words: &'static [&'static str], variants: &[&str]) -> Option<Plain> {
    let (mut words, mut variants) = (words, variants);
    while let ([word, more_words @ ..], [variant, more_variants @ ..]) = (words, variants) {
        if ends_with(rust, variant.as_bytes()) {
            return Some(Plain::Text(word.as_bytes()));
        }
        (words, variants) = (more_words, more_variants);
    }
    None
}

/// Whether a path's last part is `name`.
const fn ends_with(path: &[u8], name: &[u8]) -> bool {
    let Some(start) = path.len().checked_sub(name.len()) else { return false };
    let Some((before, last)) = path.split_at_checked(start) else { return false };
    same(last, name) && matches!(before, [] | [.., b':', b':'])
}

const fn empty(rust: &[u8], spellings: &[&str], json: &'static str) -> Option<Plain> {
    let mut spellings = spellings;
    while let [spelling, more @ ..] = spellings {
        if same(rust, spelling.as_bytes()) {
            return Some(Plain::Json(json));
        }
        spellings = more;
    }
    None
}

const fn same(mut a: &[u8], mut b: &[u8]) -> bool {
    while let ([x, more_a @ ..], [y, more_b @ ..]) = (a, b) {
        if *x != *y {
            return false;
        }
        (a, b) = (more_a, more_b);
    }
    a.is_empty() && b.is_empty()
}
