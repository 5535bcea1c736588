//! Names: of workflows, templates and tasks, of a pipeline's labels, of parameters.

use serde_json::json;

use crate::{
    expr,
    form::{Cursor, Form, Name, Report},
    problem::codes::shape,
};

/// The longest name of a workflow, template or task.
const MAX_NAME_CHARS: usize = 63;

/// A name of a workflow, template or task. One of the wrong form is reported and kept, so that what refers to it is
/// not reported as well.
pub(super) const NAME: Form<Name> = Form::new(
    |cursor, report| checked(&PLAIN, cursor, report),
    |defs| {
        defs.named("name", |_| {
            json!({ "type": "string", "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "maxLength": MAX_NAME_CHARS })
        })
    },
);

/// A label of a pipeline's task, which may also hold `_`.
pub(super) const LABEL: Form<Name> = Form::new(label, |defs| {
    defs.named("label", |_| {
        json!({
            "type": "string",
            "pattern": "^[a-z0-9_]([-a-z0-9_]*[a-z0-9_])?$",
            "maxLength": MAX_NAME_CHARS,
            "not": { "enum": expr::WORDS },
        })
    })
});

/// A label is read by its name alone, which a word of the language is not.
fn label(cursor: &Cursor<'_>, report: &Report) -> Option<Name> {
    let name = checked(&LABELS, cursor, report)?;
    if expr::WORDS.contains(&&*name.value) {
        let message =
            format!("`{}` is a word of the expression language; expected another label", name.value);
        let hint = format!("write `{}_`", name.value);
        report.problem(cursor.problem(&shape::INVALID_NAME, message).with_hint(hint));
    }
    Some(name)
}

/// A name of a parameter.
pub(super) const PARAMETER_NAME: Form<Name> = Form::new(
    |cursor, report| {
        let name = cursor.located(cursor.text(report)?);
        check_parameter_name(&name, report);
        Some(name)
    },
    |defs| {
        defs.named(
            "parameterName",
            |_| json!({ "type": "string", "pattern": "^[A-Za-z0-9_][-A-Za-z0-9_]*$" }),
        )
    },
);

/// Which characters a kind of name is made of; hyphens may stand inside.
struct Alphabet {
    edge: fn(char) -> bool,
    expected: &'static str,
}

const PLAIN: Alphabet = Alphabet {
    edge: |c| c.is_ascii_lowercase() || c.is_ascii_digit(),
    expected: "lower-case letters, digits and inner hyphens",
};

const LABELS: Alphabet = Alphabet {
    edge: |c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_',
    expected: "lower-case letters, digits, `_` and inner hyphens",
};

/// Returns whether a text can be the name of a workflow, a template, a task or a namespace.
#[must_use]
pub fn is_name(text: &str) -> bool {
    PLAIN.fit(text)
}

impl Alphabet {
    fn fit(&self, name: &str) -> bool {
        name.len() <= MAX_NAME_CHARS
            && name.starts_with(self.edge)
            && name.ends_with(self.edge)
            && name.chars().all(|c| (self.edge)(c) || c == '-')
    }
}

fn checked(letters: &Alphabet, cursor: &Cursor<'_>, report: &Report) -> Option<Name> {
    let name = cursor.text(report)?;
    if !letters.fit(&name) {
        let expected = letters.expected;
        let message = format!("name {name:?}; expected {expected}, at most {MAX_NAME_CHARS} characters");
        let problem = cursor.problem(&shape::INVALID_NAME, message);
        let mended = name.to_lowercase().replace([' ', '_', '.'], "-");
        let mends = mended != *name && letters.fit(&mended);
        report.problem(if mends { problem.with_hint(format!("write `{mended}`")) } else { problem });
    }
    Some(cursor.located(name))
}

/// Reports text that cannot be the name of a parameter.
pub(super) fn check_parameter_name(name: &Name, report: &Report) {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !name.value.starts_with(word) || !name.value.chars().all(|c| word(c) || c == '-') {
        let message = format!("name {:?}; expected letters, digits, `_` and, not first, `-`", name.value);
        report.problem(name.problem(&shape::INVALID_NAME, message));
    }
}
