//! The forms in which a secret may stand in a text.

use base64::{
    Engine as _,
    engine::general_purpose::{GeneralPurpose, STANDARD_NO_PAD, URL_SAFE_NO_PAD},
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Fewest characters of an encoded secret that are searched for: shorter pieces occur by chance in too many texts.
const MIN_CODE_CHARS: usize = 6;

/// Characters that percent-encoding leaves as they are: by the standard, in browsers, and in forms.
const COMPONENT: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');
const BROWSER: AsciiSet = COMPONENT.remove(b'!').remove(b'\'').remove(b'(').remove(b')').remove(b'*');
const FORM: AsciiSet = COMPONENT.add(b'~').remove(b'*').remove(b' ');

/// A text that stands for a secret.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Form {
    pub(super) text: String,
    /// How many characters of Base64 before and behind it hold a part of the secret, mixed with what stands beside it.
    pub(super) before: usize,
    pub(super) behind: usize,
}

impl From<String> for Form {
    fn from(text: String) -> Self {
        Self { text, before: 0, behind: 0 }
    }
}

/// All forms of a secret that are looked for, each once.
pub(super) fn of(value: &str) -> Vec<Form> {
    let mut forms = Vec::new();
    for plain in line_ends(value) {
        let others = [escaped(&plain), in_urls(&plain), in_digits(&plain)].concat();
        forms.extend(others.into_iter().map(Form::from));
        forms.extend(
            [STANDARD_NO_PAD, URL_SAFE_NO_PAD].iter().flat_map(|code| in_base64(plain.as_bytes(), code)),
        );
        forms.push(plain.into());
    }
    forms
}

/// The value with either kind of line end. Surrounding whitespace is dropped unless there is nothing else.
pub(super) fn line_ends(value: &str) -> Vec<String> {
    let trimmed = value.trim();
    let value = if trimmed.is_empty() { value } else { trimmed };
    let unix = value.replace("\r\n", "\n");
    let mut all = vec![value.to_owned(), unix.replace('\n', "\r\n"), unix];
    all.sort_unstable();
    all.dedup();
    all
}

/// In JSON by the habits of several writers, in JSON within JSON, and as Rust shows texts to developers.
fn escaped(text: &str) -> Vec<String> {
    let once = in_json(text);
    let written = [once.replace('/', r"\/"), in_json(&once), once];
    let lower = written.each_ref().map(|text| in_ascii(text, |unit| format!(r"\u{unit:04x}")));
    let upper = written.each_ref().map(|text| in_ascii(text, |unit| format!(r"\u{unit:04X}")));
    let units = UNITS.iter().flat_map(|is_escaped| {
        [
            in_units(text, *is_escaped, |unit| format!(r"\u{unit:04x}")),
            in_units(text, *is_escaped, |unit| format!(r"\u{unit:04X}")),
        ]
    });
    let debugged = text.escape_debug().to_string();
    [lower, upper, written].into_iter().flatten().chain(units).chain([debugged]).collect()
}

/// Characters that writers of JSON write as `\u` and four digits: all of them; those that mean something in HTML, with or without others
/// beyond ASCII; those and quotes.
const UNITS: [fn(char) -> bool; 4] = [
    |_| true,
    |c| "<>&\u{2028}\u{2029}".contains(c),
    |c| "<>&".contains(c) || !c.is_ascii(),
    |c| "<>&'\"+`".contains(c) || !c.is_ascii(),
];

/// Writes a text as in JSON, with these characters as units of UTF-16.
fn in_units(text: &str, is_escaped: fn(char) -> bool, escape: impl Fn(u16) -> String) -> String {
    let character = |c: char| match is_escaped(c) {
        true => c.encode_utf16(&mut [0; 2]).iter().map(|unit| escape(*unit)).collect(),
        false => in_json(c.encode_utf8(&mut [0; 4])),
    };
    text.chars().map(character).collect()
}

fn in_json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted.get(1..quoted.len() - 1).unwrap_or_default().to_owned()
}

fn in_ascii(text: &str, escape: impl Fn(u16) -> String) -> String {
    let character = |c: char| match c.is_ascii() {
        true => c.to_string(),
        false => c.encode_utf16(&mut [0; 2]).iter().map(|unit| escape(*unit)).collect(),
    };
    text.chars().map(character).collect()
}

fn in_urls(text: &str) -> Vec<String> {
    let encoded = |kept: &'static AsciiSet| utf8_percent_encode(text, kept).to_string();
    let upper = [encoded(&COMPONENT), encoded(&BROWSER), encoded(&FORM).replace(' ', "+")];
    // Also every byte, as nothing forbids.
    let each: String = text.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let upper = upper.into_iter().chain([each]).collect::<Vec<_>>();
    upper.iter().map(|text| with_lower_digits(text)).chain(upper.clone()).collect()
}

/// With `%2f` for `%2F`.
fn with_lower_digits(text: &str) -> String {
    let mut parts = text.split('%');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| {
        let (digits, rest) = part.split_at_checked(2).unwrap_or((part, ""));
        [all.as_str(), "%", &digits.to_ascii_lowercase(), rest].concat()
    })
}

fn in_digits(text: &str) -> Vec<String> {
    let lower: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
    let forms = vec![lower.to_uppercase(), lower];
    forms.into_iter().filter(|form| form.len() >= MIN_CODE_CHARS).collect()
}

/// Wherever it begins within three bytes that become four characters: the characters that only the secret decides.
fn in_base64(bytes: &[u8], code: &GeneralPurpose) -> Vec<Form> {
    let beginning_at = |skipped: usize| {
        let rest = bytes.get(skipped..)?;
        let mut text = code.encode(rest);
        let behind = usize::from(rest.len() % 3 != 0);
        text.truncate(text.len() - behind.min(text.len()));
        // One skipped byte leaves its bits in two characters, two bytes in three.
        let before = if skipped == 0 { 0 } else { skipped + 1 };
        (text.len() >= MIN_CODE_CHARS).then_some(Form { text, before, behind })
    };
    (0..3).filter_map(beginning_at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_has_many_forms() {
        let forms: Vec<String> = of("a/b\"ü\n~ x").into_iter().map(|form| form.text).collect();
        for expected in [
            "a/b\"ü\n~ x",
            "a/b\"ü\r\n~ x",
            r#"a/b\"ü\n~ x"#,
            r#"a\/b\"ü\n~ x"#,
            r#"a/b\"\u00fc\n~ x"#,
            r#"a/b\"\u00FC\n~ x"#,
            r#"a/b\\\"ü\\n~ x"#,
            "a%2Fb%22%C3%BC%0A~%20x",
            "a%2fb%22%c3%bc%0a~%20x",
            "a%2Fb%22%C3%BC%0A%7E+x",
            "%61%2F%62%22%C3%BC%0A%7E%20%78",
            "%61%2f%62%22%c3%bc%0a%7e%20%78",
            r"\u0061\u002f\u0062\u0022\u00fc\u000a\u007e\u0020\u0078",
            r"\u0061\u002F\u0062\u0022\u00FC\u000A\u007E\u0020\u0078",
            r"a/b\u0022\u00FC\n~ x",
            "612f6222c3bc0a7e2078",
            "612F6222C3BC0A7E2078",
        ] {
            assert!(forms.iter().any(|form| form == expected), "{expected}: {forms:#?}");
        }
    }

    /// R-B9: as Go, PHP and .NET write JSON that may stand in HTML.
    #[test]
    fn signs_of_html_are_escaped_by_some() {
        let forms: Vec<String> = of("<a&b>'+\u{fc}\u{1f600}").into_iter().map(|form| form.text).collect();
        for expected in [
            "\\u003ca\\u0026b\\u003e'+\u{fc}\u{1f600}",
            "\\u003Ca\\u0026b\\u003E'+\u{fc}\u{1f600}",
            "\\u003ca\\u0026b\\u003e'+\\u00fc\\ud83d\\ude00",
            "\\u003Ca\\u0026b\\u003E\\u0027\\u002B\\u00FC\\uD83D\\uDE00",
        ] {
            assert!(forms.iter().any(|form| form == expected), "{expected}: {forms:#?}");
        }
    }

    #[test]
    fn blanks_around_a_secret_are_no_part_of_it() {
        assert_eq!([line_ends(" a \n"), line_ends(" ")], [["a"], [" "]]);
        assert_eq!(line_ends("a\r\nb"), ["a\nb", "a\r\nb"]);
    }
}
