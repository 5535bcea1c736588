//! Matches, finds, replaces and splits text by a regular expression.

mod find;
mod limits;
mod replace;

use engine::{Regex, RegexBuilder};
use limits::{MAX_COMPILED_BYTES, MAX_DEPTH, MAX_PATTERN_BYTES};
use phasm_sdk::prelude::*;

inputs! {
    /// A regular expression, and the text that it is used on.
    pub struct Task {
        /// Operation to perform.
        operation: Operation,
        /// The regular expression.
        pattern: String,
        /// Text to search.
        text: String,
        /// Text to put in place of each match; required for `replace`.
        replacement: Option<String>,
        /// Upper and lower case are equal.
        ignore_case as "ignoreCase": bool = false,
        /// Number of matches after which the search ends; absent for no end.
        limit: Option<usize>,
        /// More matches or parts are a failure.
        max_matches as "maxMatches": usize = 10_000,
        /// A larger text after `replace` is a failure.
        max_bytes as "maxBytes": usize = 4 << 20,
    }
}

inputs! {
    /// Operations on a text.
    #[derive(Clone, Copy)]
    pub enum Operation {
        /// Whether the pattern occurs in the text, and where first.
        Match = "match",
        /// All matches that do not overlap.
        Find = "find",
        /// The text with its matches replaced.
        Replace = "replace",
        /// The parts of the text between the matches.
        Split = "split",
    }
}

/// Does what `operation` says.
///
/// # Errors
///
/// Code 2 for more matches or a larger text than allowed, code 3 for bad inputs and a pattern that does not compile.
pub fn regex(call: Call<Task>) -> Result {
    let task = call.inputs;
    let pattern = compile(&task)?;
    if task.replacement.is_some() && !matches!(task.operation, Operation::Replace) {
        let message = "input `replacement`: only `replace` reads it; write `operation: replace`";
        return Err(Outcome::error(message).kind("input").retryable(false));
    }
    match task.operation {
        Operation::Match => find::first(&pattern, &task),
        Operation::Find => find::all(&pattern, &task),
        Operation::Replace => replace::replace(&pattern, &task),
        Operation::Split => find::split(&pattern, &task),
    }
}

/// Code 3 for a pattern that is no regular expression, or a larger one than a guest should compile.
fn compile(task: &Task) -> Result<Regex> {
    let refused = |why: String| {
        Outcome::error(format!("the pattern does not compile: {why}")).kind("pattern").retryable(false)
    };
    if task.pattern.len() > MAX_PATTERN_BYTES {
        let size = task.pattern.len();
        return Err(refused(format!("it has {size} bytes; expected at most {MAX_PATTERN_BYTES}")));
    }
    RegexBuilder::new(&task.pattern)
        .case_insensitive(task.ignore_case)
        .size_limit(MAX_COMPILED_BYTES)
        .nest_limit(MAX_DEPTH)
        .build()
        .map_err(|why| refused(reason(&why)))
}

/// Says in one line why a pattern does not compile.
fn reason(why: &engine::Error) -> String {
    if let engine::Error::CompiledTooBig(limit) = why {
        return format!(
            "compiled it is larger than {limit} bytes; use smaller numbers of repetitions, or `[0-9]` and `[a-z]` \
             instead of classes of Unicode"
        );
    }
    // The syntax error comes with a drawing of the pattern: the lines before say where, the last line says why.
    let text = why.to_string();
    let reason = text.lines().rfind(|line| line.starts_with("error: ")).unwrap_or(&text);
    let reason = reason.trim_start_matches("error: ");
    let drawn = text.lines().filter(|line| line.trim_start().starts_with('^')).collect::<Vec<_>>();
    // The drawing is indented by four spaces.
    let place = match drawn.as_slice() {
        [line] => line.find('^').map(|at| format!(" at column {}", at.saturating_sub(3))).unwrap_or_default(),
        _ => String::new(),
    };
    let hint = if reason.contains("look-around") || reason.contains("backreferences") {
        "; there are neither look-arounds nor backreferences, so that the time is linear in the text"
    } else {
        ""
    };
    format!("{reason}{place}{hint}")
}

executor!(regex, {
    outputs: {
        /// Whether the pattern occurs, with `match`.
        matched: Option<bool>,
        /// The first match, with `match`, if there is one.
        first: Option<Json>,
        /// Matches with `text`, `start`, `end`, `captures` and `groups`, with `find`.
        matches: Option<Vec<Json>>,
        /// The text afterwards, with `replace`.
        text: Option<String>,
        /// Parts of the text, with `split`.
        parts: Option<Vec<String>>,
        /// Number of matches, except with `match`.
        count: Option<u64>,
    },
    codes: [{ code: 3, meaning: "The inputs are wrong." }],
    deterministic: true,
    examples: [
        {
            name: "replaces names",
            inputs: { operation: "replace", pattern: "\\w+@", replacement: "***@", text: "to ada@example.com" },
            outputs: { text: "to ***@example.com", count: 1 },
        },
        { name: "needs a pattern", inputs: { operation: "match", pattern: "(", text: "" }, code: 3, message: "pattern" },
    ],
});

#[cfg(test)]
mod tests;
