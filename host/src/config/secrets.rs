//! `[secrets]`: values by name and key, from the environment or files.

use std::fs;

use phasm_engine::problem::Problem;

use super::{
    Surroundings, catalogue,
    fields::{Field, Findings, Table},
};
use crate::secrets::Secrets;

pub(super) fn read(
    name: &str,
    keys: &Table<'_>,
    around: &Surroundings<'_>,
    secrets: &mut Secrets,
    findings: &mut Findings,
) {
    for (key, field) in keys.fields() {
        let Some(source) = Table::of(field.tree, field.path.clone(), findings) else { continue };
        source.only(&["env", "file"], findings);
        let value = match (source.get("env"), source.get("file")) {
            (Some(env), None) => from_env(&env, around, findings),
            (None, Some(file)) => from_file(&file, around, findings),
            (Some(_), Some(_)) | (None, None) => {
                let message = "expected exactly one of `env` and `file`";
                findings.problem(Problem::new(&catalogue::BAD_VALUE, &field.path, key.span, message));
                None
            }
        };
        if let Some(value) = value {
            secrets.insert(name, key.name.clone(), value);
        }
    }
}

fn from_env(field: &Field<'_>, around: &Surroundings<'_>, findings: &mut Findings) -> Option<String> {
    let name = field.text(findings)?;
    let value = (around.env)(name).map(std::ffi::OsString::into_string);
    let reason = match value {
        Some(Ok(value)) => return Some(value),
        Some(Err(_)) => "is not text",
        None => "is not set",
    };
    let message = format!("the environment variable {name} {reason}; expected the secret's value");
    findings.warning(field.report(&catalogue::NO_SECRET, message));
    None
}

/// Without the newline that editors put at the end: it is hardly ever part of the secret, and would keep the secret from
/// being recognised, and hidden, where it stands in a line.
fn from_file(field: &Field<'_>, around: &Surroundings<'_>, findings: &mut Findings) -> Option<String> {
    let path = around.dir.join(field.text(findings)?);
    match fs::read_to_string(&path) {
        Ok(mut text) => {
            if text.ends_with('\n') {
                text.pop();
            }
            if text.ends_with('\r') {
                text.pop();
            }
            Some(text)
        }
        Err(error) => {
            let message = format!("{} cannot be read: {error}; expected the secret's value", path.display());
            findings.warning(field.report(&catalogue::NO_SECRET, message));
            None
        }
    }
}
