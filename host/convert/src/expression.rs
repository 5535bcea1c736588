//! Expressions of other systems in the language of Phasm. Paths are converted by the caller.

/// Levels of calls and brackets that are read.
const MAX_DEPTH: usize = 32;
/// Bytes of an expression that is read, as Phasm has it.
const MAX_BYTES: usize = 10_000;

/// Converts a path, by its segments, to an expression; none if it has no counterpart.
pub(crate) type Paths<'p> = &'p mut dyn FnMut(&[String]) -> Option<String>;

/// A part of an expression.
#[derive(Clone, Debug, PartialEq)]
enum Token {
    Text(String),
    Number(String),
    Path(Vec<String>),
    /// A converted placeholder.
    Value(String),
    Sign(String),
}

/// Converts an expression of functions and paths, such as `asInt(inputs.parameters.n) > 3`.
pub(crate) fn expression(text: &str, paths: Paths<'_>) -> Option<String> {
    join(&tokens(text, None, false)?, paths, 0)
}

/// Converts an expression in which hyphens belong to names.
pub(crate) fn hyphenated(text: &str, paths: Paths<'_>) -> Option<String> {
    let tokens = tokens(text, None, true)?;
    join(&tokens, paths, 0)
}

/// Converts a condition in which placeholders are replaced by their text, such as `{{tasks.flip.outputs.result}} == heads`.
pub(crate) fn condition(text: &str, paths: Paths<'_>) -> Option<String> {
    let mut tokens = tokens(text, Some(&mut *paths), true)?;
    let is_comparison = |token: Option<&Token>| matches!(token, Some(Token::Sign(sign)) if ["==", "!=", "<", ">", "<=", ">="].contains(&sign.as_str()));
    for at in 0..tokens.len() {
        let Some(Token::Value(value)) = tokens.get(at).cloned() else { continue };
        let other = if is_comparison(tokens.get(at + 1)) {
            at + 2
        } else if at >= 2 && is_comparison(tokens.get(at - 1)) {
            at - 2
        } else {
            continue;
        };
        // A placeholder is text in Phasm, and had been read anew in the other language.
        let filter = match tokens.get(other) {
            Some(Token::Number(_)) => "float",
            Some(Token::Path(words)) if is_truth(words) => "string",
            _ => continue,
        };
        if let Some(Token::Path(words)) = tokens.get(other).cloned() {
            replace(&mut tokens, other, Token::Text(words.concat()));
        }
        replace(&mut tokens, at, Token::Value(format!("({value} | {filter})")));
    }
    for token in &mut tokens {
        if let Token::Path(words) = token
            && !is_truth(words)
        {
            *token = Token::Text(words.join("."));
        }
    }
    join(&tokens, &mut |words| is_truth(words).then(|| words.concat()), 0)
}

fn replace(tokens: &mut [Token], at: usize, with: Token) {
    if let Some(token) = tokens.get_mut(at) {
        *token = with;
    }
}

fn is_truth(words: &[String]) -> bool {
    matches!(words, [word] if word == "true" || word == "false")
}

/// Converts the placeholders of a text between `open` and `}}`. Those without a counterpart stay as text, and are returned.
pub(crate) fn template(
    text: &str,
    open: &str,
    convert: &mut dyn FnMut(&str) -> Option<String>,
) -> (String, Vec<String>) {
    let mut converted = String::new();
    let mut failed = Vec::new();
    let mut rest = text;
    while let Some((before, from)) = rest.split_once(open) {
        converted.push_str(&escape(before));
        let Some((inside, behind)) = from.split_once("}}") else {
            rest = from;
            converted.push_str(&escape(open));
            continue;
        };
        match convert(inside) {
            Some(expression) => converted.push_str(&format!("{{{{ {expression} }}}}")),
            None => {
                converted.push_str(&escape(&format!("{open}{inside}}}}}")));
                failed.push(inside.trim().to_owned());
            }
        }
        rest = behind;
    }
    converted.push_str(&escape(rest));
    (converted, failed)
}

/// Writes a text that is no placeholder so that Phasm sees none in it.
fn escape(text: &str) -> String {
    text.replace("{{", "{{ '{{' }}")
}

/// Converts the inside of a placeholder.
pub(crate) fn placeholder(inside: &str, paths: Paths<'_>) -> Option<String> {
    if let Some(text) = inside.strip_prefix('=') {
        return expression(text, paths);
    }
    let path: Vec<String> = inside.trim().split('.').map(str::to_owned).collect();
    let is_part = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    let is_name = path.iter().all(|name| !name.is_empty() && name.chars().all(is_part));
    if is_name { paths(&path) } else { None }
}

/// Splits an expression. With `paths`, placeholders stand for values and names are texts.
fn tokens(text: &str, mut paths: Option<Paths<'_>>, has_hyphens: bool) -> Option<Vec<Token>> {
    const SIGNS: [&str; 20] = [
        "==", "!=", "<=", ">=", "&&", "||", "<", ">", "!", "(", ")", "+", "-", "*", "/", "%", "?", ":", ",",
        "=~",
    ];
    if text.len() > MAX_BYTES {
        return None;
    }
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        if let Some(paths) = paths.as_mut()
            && let Some(inside) = rest.strip_prefix("{{")
        {
            let (inside, behind) = inside.split_once("}}")?;
            found.push(Token::Value(placeholder(inside, &mut **paths)?));
            rest = behind;
        } else if first == '\'' || first == '"' || first == '`' {
            let (inside, behind) = rest.get(1..)?.split_once(first)?;
            if inside.contains('\\') {
                return None;
            }
            let value = inside.strip_prefix("{{").and_then(|inside| inside.strip_suffix("}}"));
            found.push(match (value, paths.as_mut()) {
                (Some(value), Some(paths)) => Token::Value(placeholder(value, &mut **paths)?),
                _ if inside.contains("{{") => return None,
                _ => Token::Text(inside.to_owned()),
            });
            rest = behind;
        } else if first.is_ascii_digit() || first.is_alphabetic() || first == '_' {
            let is_bare = paths.is_some();
            let end =
                rest.find(|c: char| !(c.is_alphanumeric() || "_.".contains(c) || (has_hyphens && c == '-')));
            let (word, behind) = rest.split_at(end.unwrap_or(rest.len()));
            rest = behind;
            if word.parse::<f64>().is_ok() && first.is_ascii_digit() {
                found.push(Token::Number(word.to_owned()));
                rest = rest.trim_start();
                continue;
            }
            let mut path: Vec<String> = word.split('.').map(str::to_owned).collect();
            while !is_bare && let Some(inside) = rest.strip_prefix('[') {
                let (inside, behind) = inside.split_once(']')?;
                path.push(inside.trim().trim_matches(['\'', '"']).to_owned());
                let end = behind
                    .find(|c: char| !(c.is_alphanumeric() || "_.".contains(c) || (has_hyphens && c == '-')));
                let (more, behind) = behind.split_at(end.unwrap_or(behind.len()));
                path.extend(
                    more.strip_prefix('.').into_iter().flat_map(|more| more.split('.')).map(str::to_owned),
                );
                rest = behind;
            }
            found.push(Token::Path(path));
        } else {
            let sign =
                SIGNS.into_iter().filter(|sign| rest.starts_with(sign)).max_by_key(|sign| sign.len())?;
            if sign == "=~" {
                return None;
            }
            found.push(Token::Sign(sign.to_owned()));
            rest = rest.get(sign.len()..)?;
        }
        rest = rest.trim_start();
    }
    Some(found)
}

/// Writes tokens as an expression of Phasm.
fn join(tokens: &[Token], paths: Paths<'_>, depth: usize) -> Option<String> {
    if depth > MAX_DEPTH || tokens.is_empty() {
        return None;
    }
    let mut parts: Vec<String> = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        match token {
            Token::Text(text) => parts.push(quoted(text)),
            Token::Number(number) => parts.push(number.clone()),
            Token::Value(value) => parts.push(value.clone()),
            Token::Sign(sign) if sign == "(" => {
                let end = close(tokens, at)?;
                parts.push(format!("({})", join(tokens.get(at..end)?, paths, depth + 1)?));
                at = end + 1;
            }
            Token::Sign(sign) => parts.push(sign.clone()),
            Token::Path(path) if tokens.get(at) == Some(&Token::Sign("(".to_owned())) => {
                let end = close(tokens, at + 1)?;
                let inside = tokens.get(at + 1..end)?;
                at = end + 1;
                parts.push(call(&path.join("."), inside, paths, depth)?);
            }
            Token::Path(path) => parts.push(match path.as_slice() {
                [word] if ["true", "false", "in", "not", "and", "or"].contains(&word.as_str()) => {
                    word.clone()
                }
                [word] if word == "nil" || word == "null" => "null".to_owned(),
                path => paths(path)?,
            }),
        }
    }
    Some(parts.join(" "))
}

/// Returns the place of the bracket that closes the one before `from`.
fn close(tokens: &[Token], from: usize) -> Option<usize> {
    let mut open = 1;
    for (at, token) in tokens.iter().enumerate().skip(from) {
        match token {
            Token::Sign(sign) if sign == "(" => open += 1,
            Token::Sign(sign) if sign == ")" => open -= 1,
            Token::Text(_) | Token::Number(_) | Token::Path(_) | Token::Value(_) | Token::Sign(_) => {}
        }
        if open == 0 {
            return Some(at);
        }
    }
    None
}

/// Converts the call of a function with one counterpart.
fn call(name: &str, inside: &[Token], paths: Paths<'_>, depth: usize) -> Option<String> {
    let mut filter = |filter: &str| Some(format!("({} | {filter})", join(inside, &mut *paths, depth + 1)?));
    match name {
        "always" | "success" | "failure" | "cancelled" if inside.is_empty() => paths(&[format!("{name}()")]),
        "asInt" | "int" => filter("int"),
        "asFloat" | "float" => filter("float"),
        "string" | "sprig.toString" => filter("string"),
        "toJson" | "toJSON" => filter("tojson"),
        "fromJson" | "fromJSON" => filter("fromjson"),
        "sprig.upper" | "upper" => filter("upper"),
        "sprig.lower" | "lower" => filter("lower"),
        "sprig.trim" | "trim" => filter("trim"),
        "len" => filter("length"),
        "contains" | "startsWith" | "endsWith" => {
            let comma = inside.iter().position(|token| *token == Token::Sign(",".to_owned()))?;
            let (text, part) = (inside.get(..comma)?, inside.get(comma + 1..)?);
            let (text, part) = (join(text, &mut *paths, depth + 1)?, join(part, paths, depth + 1)?);
            Some(format!("({text} | {}({part}))", name.to_lowercase()))
        }
        _ => None,
    }
}

/// Returns a text of the language.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', "\\n"))
}
