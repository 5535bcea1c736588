//! The edges of a placeholder: where it ends, and signs of other template languages, none of which means what the sign means here.

use super::SyntaxError;

/// Checks the text between the braces of a placeholder, before it is read as an expression.
///
/// # Errors
/// Names the sign and its counterpart; the offset is one in `inside`.
pub(super) fn check(inside: &str) -> Result<(), SyntaxError> {
    let last = inside.len().saturating_sub(1);
    let (offset, message, hint) = if let Some(sign) = inside.chars().next().filter(|sign| is_trim_mark(*sign))
    {
        (
            0,
            format!("`{{{{{sign}` is a trim mark of other template languages; expected `{{{{`"),
            hint_for(sign),
        )
    } else if let Some(sign) = inside.chars().last().filter(|sign| is_trim_mark(*sign)) {
        (
            last,
            format!("`{sign}}}}}` is a trim mark of other template languages; expected `}}}}`"),
            hint_for(sign),
        )
    } else if inside.starts_with('=') {
        let message = "`{{=` is the expression tag of Argo; expected `{{`".to_owned();
        (0, message, "every placeholder holds an expression: write `{{ … }}`")
    } else if inside.starts_with(['#', '/', '^', '>', '&']) {
        let message =
            "`{{#`, `{{/`, `{{^`, `{{>` and `{{&` are tags of Mustache; expected an expression".to_owned();
        (
            0,
            message,
            "write a choice as `{{ condition ? a : b }}`, a condition of a task as `when`, a repetition as a template `loop`",
        )
    } else if inside.trim_start().starts_with('.') {
        let message = "`{{ .` begins a path of Go's templates; expected a name".to_owned();
        (
            0,
            message,
            "a path begins with a name: `workflow.parameters.x`, `inputs.parameters.x`, `tasks.a.outputs.parameters.x`",
        )
    } else {
        return Ok(());
    };
    Err(SyntaxError::new(offset, message).hint(hint))
}

/// Checks every placeholder that stands in an expression outside of quotes.
///
/// # Errors
/// Fails like [`check`]; the offset is one in `text`.
pub(super) fn check_all(text: &str) -> Result<(), SyntaxError> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            // A quote that nothing closes is reported when the text is read.
            b'"' | b'\'' => at = end_of_quotes(bytes, at).unwrap_or(bytes.len()),
            b'{' if bytes.get(at + 1) == Some(&b'{') => {
                let start = at + 2;
                let inside = end_of_placeholder(text, start).ok().and_then(|end| text.get(start..end));
                let fault = |error: SyntaxError| SyntaxError { offset: error.offset + start, ..error };
                check(inside.unwrap_or_default()).map_err(fault)?;
                at += 1;
            }
            _ => {}
        }
        at += 1;
    }
    Ok(())
}

fn is_trim_mark(sign: char) -> bool {
    matches!(sign, '-' | '~')
}

fn hint_for(sign: char) -> &'static str {
    if sign == '-' {
        "leave the mark out, and the white space that it would remove; a minus is written with a space before it, `{{ -x }}`"
    } else {
        "leave the mark out, and the white space that it would remove"
    }
}

/// Where the `}}` is that ends the placeholder whose text begins at `start`; braces in quotes, and braces that are
/// opened inside, do not end it.
pub(super) fn end_of_placeholder(text: &str, start: usize) -> Result<usize, SyntaxError> {
    let bytes = text.as_bytes();
    let mut open = 0_usize;
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' | b'\'' => at = end_of_quotes(bytes, at)?,
            b'{' => open += 1,
            b'}' if open > 0 => open -= 1,
            b'}' if bytes.get(at + 1) == Some(&b'}') => return Ok(at),
            _ => {}
        }
        at += 1;
    }
    Err(SyntaxError::new(start - "{{".len(), "this placeholder has no closing `}}`")
        .hint("a literal `{{` is written `{{ '{{' }}`; `raw: true` switches placeholders off"))
}

/// Where the quotes opened at `start` close.
fn end_of_quotes(bytes: &[u8], start: usize) -> Result<usize, SyntaxError> {
    let quote = bytes.get(start);
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            _ if Some(byte) == quote => return Ok(at),
            _ => {}
        }
        at += 1;
    }
    Err(SyntaxError::new(start, "this text has no closing quote"))
}
