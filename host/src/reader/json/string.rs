//! JSON strings and their escapes.

use std::sync::Arc;

use super::{Fatal, Reader};

/// Reads the string at whose opening quote the reader stands.
pub(super) fn read(reader: &mut Reader<'_>) -> Result<Arc<str>, Fatal> {
    let opening = reader.at;
    reader.at += 1;
    let start = reader.at;
    skip_plain(reader);
    if reader.peek() == Some(b'"') {
        let text = reader.text_until_here(start).into();
        reader.at += 1;
        return Ok(text);
    }
    let mut text = reader.text_until_here(start).to_owned();
    loop {
        match reader.peek() {
            Some(b'"') => break,
            Some(b'\\') => text.push(escape(reader)?),
            Some(_) => {
                return Err(reader.unexpected(
                    "no control character in a text",
                    Some("write it as `\\n`, `\\t` or `\\u00…`"),
                ));
            }
            None => return Err(reader.wrong(opening, "text without an end; expected a closing `\"`", None)),
        }
        let start = reader.at;
        skip_plain(reader);
        text.push_str(reader.text_until_here(start));
    }
    reader.at += 1;
    Ok(text.into())
}

fn skip_plain(reader: &mut Reader<'_>) {
    reader.skip_while(|byte| !matches!(byte, b'"' | b'\\' | 0..0x20));
}

fn escape(reader: &mut Reader<'_>) -> Result<char, Fatal> {
    let start = reader.at;
    reader.at += 1;
    let letter = reader.next_char();
    reader.at += letter.map_or(0, char::len_utf8);
    match letter {
        Some(c @ ('"' | '\\' | '/')) => Ok(c),
        Some('b') => Ok('\u{8}'),
        Some('f') => Ok('\u{c}'),
        Some('n') => Ok('\n'),
        Some('r') => Ok('\r'),
        Some('t') => Ok('\t'),
        Some('u') => code_point(reader, start),
        _ => Err(reader.wrong(
            start,
            "unknown escape; expected one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX",
            None,
        )),
    }
}

/// One `\uXXXX`, or two that are a surrogate pair.
fn code_point(reader: &mut Reader<'_>, start: usize) -> Result<char, Fatal> {
    let first = hex(reader, start)?;
    if let Some(c) = char::from_u32(first) {
        return Ok(c);
    }
    let is_pair = first < 0xDC00 && reader.take(b'\\') && reader.take(b'u');
    let second = if is_pair { hex(reader, start)? } else { 0 };
    if !(0xDC00..0xE000).contains(&second) {
        let message = "half of a surrogate pair; expected both halves, the high one first";
        return Err(reader.wrong(start, message, None));
    }
    let code = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
    Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
}

fn hex(reader: &mut Reader<'_>, start: usize) -> Result<u32, Fatal> {
    let mut code = 0;
    for _ in 0..4 {
        let digit = reader.peek().and_then(|byte| char::from(byte).to_digit(16));
        let Some(digit) = digit else {
            return Err(reader.wrong(
                start,
                "unfinished escape; expected \\u and four hexadecimal digits",
                None,
            ));
        };
        reader.at += 1;
        code = code * 16 + digit;
    }
    Ok(code)
}
