//! `valueFrom`: where a parameter's value comes from.

use serde_json::json;

use crate::{
    document::{ExprDoc, expression::EXPRESSION},
    form::{Cursor, Field, Form, Name, Object, Refusal, Report, Rule, SOME_TEXT, Table, When},
    problem::codes::{expressions, shape},
    settings::SecretRef,
};

/// `valueFrom`.
#[derive(Clone, Debug)]
pub(crate) enum SourceDoc {
    /// `parameter`, `path` or `expression`.
    Expression(ExprDoc),
    /// `secretKeyRef`.
    Secret(SecretRef),
}

/// Where an input's or argument's value comes from.
pub(super) const SOURCE: Form<SourceDoc> = Form::new(
    |cursor, report| {
        let object = cursor.object(&SOURCE_TABLE, report)?;
        match object.only(SOURCES)? {
            "secretKeyRef" => object.optional(&SECRET).map(SourceDoc::Secret),
            _ => expression(&object),
        }
    },
    |defs| defs.object(&SOURCE_TABLE),
);

/// Where an output's value comes from: no secret.
pub(super) const SOURCE_OF_OUTPUT: Form<SourceDoc> = Form::new(
    |cursor, report| {
        let object = cursor.object(&SOURCE_OF_OUTPUT_TABLE, report)?;
        object.only(SOURCES)?;
        expression(&object)
    },
    |defs| defs.object(&SOURCE_OF_OUTPUT_TABLE),
);

const SOURCES: &[&str] = &["parameter", "path", "expression", "secretKeyRef"];

static SOURCE_TABLE: Table = Table::closed(
    "valueFrom",
    "Where the value of an input or argument comes from: exactly one of these.",
    &[&PARAMETER, &PATH, &CALCULATED, &SECRET],
    &[Rule::ExactlyOne(SOURCES)],
);

static SOURCE_OF_OUTPUT_TABLE: Table = Table::closed(
    "outputValueFrom",
    "Where the value of an output comes from: exactly one of these.",
    &[&PARAMETER, &PATH, &CALCULATED],
    &[
        Rule::ExactlyOne(SOURCES),
        Rule::Refused(Refusal {
            fields: &["secretKeyRef"],
            when: When::Always,
            entry: &shape::NOT_ALLOWED,
            why: "in an output; expected another source",
            hint: "secrets reach executors as inputs only",
        }),
    ],
);

static PARAMETER: Field<ExprDoc> = Field::optional(
    "parameter",
    REFERENCE,
    "Path of one value, such as `inputs.parameters.url` or `tasks.fetch.outputs.parameters.body`.",
);

static PATH: Field<ExprDoc> = Field::optional("path", REFERENCE, "The same as `parameter`.");

static CALCULATED: Field<ExprDoc> =
    Field::optional("expression", EXPRESSION, "An expression, whose value it is.");

static SECRET: Field<SecretRef> = Field::optional(
    "secretKeyRef",
    Form::new(secret, |defs| defs.object(&SECRET_TABLE)),
    "A secret of the operator's configuration: read at each dispatch, never journaled, not readable by expressions.",
);

static SECRET_TABLE: Table =
    Table::closed("secretKeyRef", "A reference to a secret.", &[&SECRET_NAME, &SECRET_KEY], &[]);

static SECRET_NAME: Field<Name> =
    Field::required("name", "the secret's name", SOME_TEXT, "Name of the secret in the configuration.");

static SECRET_KEY: Field<Name> =
    Field::required("key", "the key within the secret", SOME_TEXT, "Key of the value in the secret.");

fn expression(object: &Object<'_, '_>) -> Option<SourceDoc> {
    let fields = [&PARAMETER, &PATH, &CALCULATED];
    fields.into_iter().find_map(|field| object.optional(field)).map(SourceDoc::Expression)
}

fn secret(cursor: &Cursor<'_>, report: &Report) -> Option<SecretRef> {
    let object = cursor.object(&SECRET_TABLE, report)?;
    let (name, key) = (object.optional(&SECRET_NAME), object.optional(&SECRET_KEY));
    Some(SecretRef { name: name?.value, key: key?.value })
}

/// One path and nothing else.
const REFERENCE: Form<ExprDoc> = Form::new(reference, |_| json!({ "type": "string" }));

fn reference(cursor: &Cursor<'_>, report: &Report) -> Option<ExprDoc> {
    let text = cursor.text(report)?;
    let path = text.trim().trim_start_matches("{{").trim_end_matches("}}").trim();
    if is_reference(path) {
        return EXPRESSION.read(cursor, report);
    }
    let message = "no reference; expected a path such as `inputs.parameters.url` or `tasks.fetch.outputs.parameters.body`";
    let problem = cursor.problem(&expressions::REFERENCE, message);
    report.problem(problem.with_hint("write calculations as `expression`"));
    None
}

/// Words with dots between them, or in brackets and quotes.
fn is_reference(path: &str) -> bool {
    let starts_well = path.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let brackets = path.contains('[');
    let allowed = |c: char| {
        c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.') || (brackets && "[]'\"".contains(c))
    };
    starts_well && path.contains('.') && path.chars().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_paths() {
        for path in [
            "inputs.parameters.x",
            "tasks.a-b.outputs.parameters.y",
            "inputs.parameters['x-']",
            "loop.item.id",
        ] {
            assert!(is_reference(path), "{path}");
        }
        for path in ["", "x", "1.5", "a.b + 1", "a.b(c)", "a.b | lower", "'a'.b"] {
            assert!(!is_reference(path), "{path}");
        }
    }
}
