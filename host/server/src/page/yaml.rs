//! Documents as people write them, of what is kept of a run: comments and the order of fields are gone, `name` stands first.

use std::iter::repeat_n;

use phasm::{Map, Value};

/// Lists and objects up to here, in bytes of JSON, are on one line if nothing in them is nested further.
const MAX_INLINE_LENGTH: usize = 80;

/// The value as YAML.
pub(super) fn yaml(value: &Value) -> String {
    let mut out = String::new();
    match value.as_object().filter(|members| !members.is_empty()) {
        Some(members) => object(&mut out, members, 0),
        None => out = one_line(value),
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

fn object(out: &mut String, members: &Map, depth: usize) {
    let (names, others): (Vec<_>, Vec<_>) = members.iter().partition(|(name, _)| &***name == "name");
    for (at, (name, value)) in names.into_iter().chain(others).enumerate() {
        if at > 0 {
            indent(out, depth);
        }
        out.push_str(&text(name));
        out.push(':');
        member(out, value, depth + 1);
    }
}

fn member(out: &mut String, value: &Value, depth: usize) {
    match value {
        Value::Object(members) if !is_short(value) => {
            out.push('\n');
            indent(out, depth);
            object(out, members, depth);
        }
        Value::Array(all) if !is_short(value) => {
            out.push('\n');
            for one in all.iter() {
                indent(out, depth);
                out.push('-');
                item(out, one, depth + 1);
            }
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => {
            out.push(' ');
            out.push_str(&one_line(value));
            out.push('\n');
        }
    }
}

/// Writes an item after its dash: an object begins on the same line.
fn item(out: &mut String, value: &Value, depth: usize) {
    match value {
        Value::Object(members) if !is_short(value) => {
            out.push(' ');
            object(out, members, depth);
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => member(out, value, depth),
    }
}

fn indent(out: &mut String, depth: usize) {
    out.extend(repeat_n("  ", depth));
}

fn is_short(value: &Value) -> bool {
    let is_flat = |value: &Value| value.as_array().is_none() && value.as_object().is_none();
    let flat = match value {
        Value::Array(all) => all.iter().all(is_flat),
        Value::Object(members) => members.is_empty() || (members.len() < 4 && members.values().all(is_flat)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    };
    flat && value.to_json().len() <= MAX_INLINE_LENGTH
}

fn one_line(value: &Value) -> String {
    let all = |parts: Vec<String>| parts.join(", ");
    match value {
        Value::Array(items) => format!("[{}]", all(items.iter().map(one_line).collect())),
        Value::Object(members) if members.is_empty() => "{}".to_owned(),
        Value::Object(members) => {
            let parts = members.iter().map(|(name, value)| format!("{}: {}", text(name), one_line(value)));
            format!("{{ {} }}", all(parts.collect()))
        }
        Value::String(said) => text(said),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_json(),
    }
}

/// Quotes every text that a YAML reader could take for something else. JSON's quotes are valid YAML.
fn text(said: &str) -> String {
    let begins = said.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    let means_more = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    if begins && said.chars().all(is_plain) && !means_more.contains(&&*said.to_ascii_lowercase()) {
        said.to_owned()
    } else {
        Value::from(said).to_json()
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use phasm::reader;

    use super::*;

    #[test]
    fn what_is_written_is_read_as_the_same() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
        let mut seen = 0;
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|kind| kind != "yaml") {
                continue;
            }
            let value = reader::read("d.yaml", &fs::read_to_string(&path).unwrap()).unwrap().to_value();
            let written = yaml(&value);
            let read =
                reader::read("d.yaml", &written).unwrap_or_else(|error| panic!("{error:?}\n{written}"));
            assert_eq!(read.to_value(), value, "{}\n{written}", path.display());
            seen += 1;
        }
        assert!(seen >= 3, "{seen}");
    }

    #[test]
    fn it_is_written_as_people_do() {
        let value = Value::from_json(
            r#"{"spec":{"templates":[{"dag":{"tasks":[{"executor":{"type":"echo"},"name":"a","when":"{{ x }}","dependencies":["b"]}]}}]},"kind":"Workflow",
               "says":["yes","2","a: b","é\n"],"nothing":{},"none":[],"deep":[[1,[2]]]}"#,
        )
        .unwrap();
        assert_eq!(
            yaml(&value),
            "deep:\n  -\n    - 1\n    - [2]\nkind: Workflow\nnone: []\nnothing: {}\nsays: [\"yes\", \"2\", \"a: b\", \"é\\n\"]\n\
             spec:\n  templates:\n    - dag:\n        tasks:\n          - name: a\n            dependencies: [b]\n            \
             executor: { type: echo }\n            when: \"{{ x }}\"\n"
        );
    }
}
