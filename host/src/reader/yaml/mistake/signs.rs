//! Texts that begin with a sign that means something to YAML.

use super::{
    Mistake, Stop,
    quotes::{quoted, value_at},
    shown,
};

const SAYINGS: [&str; 3] = ["unknown anchor", "scanning an anchor or alias", "unexpected character"];

/// `*.txt`, `@x` and the like.
pub(super) fn reserved(stop: &Stop<'_>) -> Option<Mistake> {
    if !stop.says(&SAYINGS) {
        return None;
    }
    // The parser may stand behind the sign.
    let before = stop.text.get(..stop.at)?;
    let start = if before.ends_with(['*', '&']) { stop.at - 1 } else { stop.at };
    let value = value_at(stop, start, start);
    let sign = value.chars().next()?;
    let meaning = match sign {
        '*' => "begins with `*` and so is an alias, which nothing defines; expected text, or a defined alias",
        '&' => "begins with `&` and so names an anchor; expected text, or a name",
        _ => {
            "begins with a sign that is kept for YAML itself; expected text that begins otherwise, or quotes"
        }
    };
    let message = format!("{} {meaning}", shown(value, "the value"));
    let hint = format!("put it in quotes: {}", shown(&quoted(value), "`\"…\"`"));
    Some(Mistake { at: start..start + value.len(), message, hint })
}
