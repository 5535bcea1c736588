//! Templates that do work: containers, scripts, HTTP requests and waits.

use std::collections::BTreeSet;

use crate::{
    expression::expression,
    fields::Field,
    names::{self, parameter},
    yaml::Output,
};

use super::{Parameters, Place, parameters, timing};

/// Converts a template with one piece of work.
pub(super) fn leaf(field: &Field<'_>, name: &str, original: &str, reads_results: bool) -> Output {
    let mut place = Place::default();
    let inputs = field.get("inputs").and_then(|inputs| inputs.get("parameters"));
    let outputs = field.get("outputs").and_then(|outputs| outputs.get("parameters"));
    let mut out = Output::from([("name", name.into())]);
    let suspend = field.get("suspend");
    let duration = suspend.as_ref().and_then(|suspend| suspend.get("duration"));
    let is_approval = suspend.is_some() && duration.is_none();
    if let (Some(suspend), None) = (&suspend, &duration) {
        suspend.used();
        approval(&mut out, original, inputs.as_ref(), outputs.as_ref());
    } else {
        let mut files = Vec::new();
        let mut declared_outputs = leaf_outputs(outputs.as_ref(), &mut place, &mut files);
        let executor = match (&duration, field.get("http")) {
            (Some(duration), _) => sleep(duration, &mut place),
            (None, Some(http)) => request(&http, &mut place),
            (None, None) => {
                if reads_results && !declared_outputs.is_empty() {
                    declared_outputs.push(("result".to_owned(), Vec::new()));
                }
                placeholder(field, original, files, &mut place)
            }
        };
        out.put("executor", executor);
        out.put("inputs", parameters(declared(inputs.as_ref(), false)));
        out.put("outputs", super::outputs(declared_outputs));
    }
    if let Some(timeout) = field.get("timeout").and_then(|field| timing::duration(&field)) {
        out.put("timeout", timeout);
    }
    if let Some(deadline) = field.get("activeDeadlineSeconds").and_then(|field| timing::seconds(&field)) {
        out.put(if is_approval { "timeout" } else { "maxRuntime" }, deadline);
    }
    if let Some(retry) = field.get("retryStrategy").filter(|_| !is_approval) {
        out.put("retry", timing::retry(&retry));
    }
    out
}

/// Returns the entries of a list with their names in Phasm. Entries without a name, and those whose name repeats, stay unused.
pub(super) fn named<'t>(list: Option<&Field<'t>>) -> Vec<(String, Field<'t>)> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for one in list.into_iter().flat_map(Field::items) {
        let Some(written) = one.get("name") else { continue };
        let Some(name) = written.peek().map(|original| parameter(&original)) else { continue };
        if seen.insert(name.clone()) {
            written.used();
            found.push((name, one));
        }
    }
    found
}

/// Converts parameters that are declared. Those of the workflow are texts.
pub(super) fn declared(list: Option<&Field<'_>>, is_workflow: bool) -> Parameters {
    let mut found: Parameters = Vec::new();
    let mut place = Place::default();
    for (name, one) in named(list) {
        let mut members = Vec::new();
        if is_workflow {
            members.push(("type", "string".into()));
        }
        if let Some(choices) = one.get("enum") {
            let choices: Vec<Output> = choices.items().iter().map(|choice| place.parameter(choice)).collect();
            if !choices.is_empty() {
                members.push(("enum", Output::List(choices)));
            }
        }
        if let Some(description) = one.get("description").and_then(|field| field.text()) {
            members.push(("description", description.into()));
        }
        let from = one.get("valueFrom");
        if let Some(value) = one.get("value").or_else(|| one.get("default")) {
            members.push(("default", place.parameter(&value)));
        } else if let Some(expressed) = from.as_ref().and_then(|from| from.get("expression"))
            && let Some(text) = expressed.peek()
            && let Some(converted) = expression(&text, &mut |path| place.path(path))
        {
            expressed.used();
            members.push(("valueFrom", Output::from([("expression", converted.into())])));
        } else if let Some(default) = from.as_ref().and_then(|from| from.get("default")) {
            members.push(("default", place.parameter(&default)));
        }
        found.push((name, members));
    }
    found
}

/// Converts outputs of an executor; paths of files go to `files`.
fn leaf_outputs(
    list: Option<&Field<'_>>,
    place: &mut Place,
    files: &mut Vec<(String, Output)>,
) -> Parameters {
    let mut found: Parameters = Vec::new();
    for (name, one) in named(list) {
        let mut members = Vec::new();
        let from = one.get("valueFrom");
        if let Some(path) = from.as_ref().and_then(|from| from.get("path")).and_then(|path| path.text()) {
            files.push((name.clone(), path.into()));
        }
        let default = from.as_ref().and_then(|from| from.get("default")).or_else(|| one.get("default"));
        if let Some(default) = default {
            members.push(("default", place.parameter(&default)));
        }
        found.push((name, members));
    }
    found
}

fn sleep(duration: &Field<'_>, place: &mut Place) -> Output {
    let value = match timing::duration(duration) {
        Some(duration) => duration.into(),
        None => {
            duration.note(timing::WITHOUT_UNIT);
            place.parameter(duration)
        }
    };
    Output::from([("type", "sleep".into()), ("config", Output::from([("duration", value)]))])
}

/// Makes an approval. Outputs that a person supplies are the fields of its response.
fn approval(out: &mut Output, original: &str, inputs: Option<&Field<'_>>, outputs: Option<&Field<'_>>) {
    let mut place = Place::default();
    let mut properties: Vec<(String, Output)> = Vec::new();
    let mut required = Vec::new();
    let mut passed: Parameters = Vec::new();
    for one in outputs.into_iter().flat_map(Field::items) {
        let Some(written) = one.get("name") else { continue };
        let Some(original) = written.peek() else { continue };
        let Some(supplied) = one.get("valueFrom").and_then(|from| from.get("supplied")) else { continue };
        let name = parameter(&original);
        if passed.iter().any(|(other, _)| *other == name) {
            continue;
        }
        written.used();
        supplied.used();
        let mut property = Output::from([("type", "string".into())]);
        let mut members = Vec::new();
        let inputs = inputs.into_iter().flat_map(Field::items);
        let input = inputs
            .into_iter()
            .find(|input| input.get("name").and_then(|name| name.peek()).as_ref() == Some(&original));
        if let Some(input) = input {
            input.get("name").inspect(Field::used);
            let choices: Vec<Output> = input
                .get("enum")
                .iter()
                .flat_map(Field::items)
                .map(|choice| place.parameter(&choice))
                .collect();
            property.put("enum", Output::List(choices));
            if let Some(description) = input.get("description").and_then(|field| field.text()) {
                property.put("description", description);
            }
            if let Some(default) = input.get("value").or_else(|| input.get("default")) {
                let default = place.parameter(&default);
                property.put("default", default.clone());
                members.push(("default", default));
            }
        }
        if members.is_empty() {
            required.push(name.clone());
        }
        properties.push((name.clone(), property));
        passed.push((name, members));
    }
    let mut executor = Output::from([("type", "approval".into())]);
    if !properties.is_empty() {
        let mut schema = Output::from([("type", "object".into())]);
        schema.put("required", Output::names(required));
        schema.put("properties", Output::Map(properties));
        executor.put("config", Output::from([("schema", schema)]));
    }
    out.put("executor", executor);
    let question = format!("Continue after {}?", names::name(original));
    out.put("inputs", parameters(vec![("message".to_owned(), vec![("value", question.into())])]));
    out.put("outputs", super::outputs(passed));
}

/// Makes a request of the `http` executor.
fn request(http: &Field<'_>, place: &mut Place) -> Output {
    let mut config = Output::Map(Vec::new());
    for key in ["url", "method"] {
        if let Some(field) = http.get(key)
            && let Some(text) = field.text()
        {
            config.put(key, place.text(&field, &text));
        }
    }
    let mut headers: Vec<(String, Output)> = Vec::new();
    for header in http.get("headers").iter().flat_map(Field::items) {
        let (Some(name), Some(value)) = (header.get("name"), header.get("value")) else { continue };
        let Some(text) = name.peek() else { continue };
        if headers.iter().any(|(other, _)| *other == text) {
            continue;
        }
        name.used();
        headers.push((text, place.parameter(&value)));
    }
    config.put("headers", Output::Map(headers));
    if let Some(body) = http.get("body") {
        config.put("body", place.parameter(&body));
    }
    if let Some(timeout) = http.get("timeoutSeconds").and_then(|field| timing::seconds(&field)) {
        config.put("timeout", Output::from([("read", timeout.into())]));
    }
    Output::from([("type", "http".into()), ("config", config)])
}

/// Makes an executor that the user writes, with the settings of the container.
fn placeholder(field: &Field<'_>, original: &str, files: Vec<(String, Output)>, place: &mut Place) -> Output {
    let executor = names::executor(original);
    let todo = format!(
        "write the executor `{executor}`, which does this work, with `phasm plugin new {executor}`; it gets these settings as `config`"
    );
    let mut config = Output::Map(Vec::new());
    let kinds = ["container", "script", "containerSet", "data", "resource", "plugin"];
    match kinds.into_iter().find_map(|kind| Some((kind, field.get(kind)?))) {
        Some(("container" | "script", work)) => {
            work.note(&todo);
            if work.members().is_empty() {
                work.used();
            }
            for key in ["image", "command", "args", "source", "workingDir"] {
                if let Some(part) = work.get(key) {
                    config.put(key, part.value(&mut |field, text| place.text(field, text)));
                }
            }
            let mut env: Vec<(String, Output)> = Vec::new();
            for one in work.get("env").iter().flat_map(Field::items) {
                let (Some(name), Some(value)) = (one.get("name"), one.get("value")) else { continue };
                let Some(text) = name.peek().filter(|text| !env.iter().any(|(other, _)| other == text))
                else {
                    continue;
                };
                name.used();
                env.push((text, place.parameter(&value)));
            }
            config.put("env", Output::Map(env));
        }
        Some((kind, work)) => {
            work.note(&todo);
            config.put(kind, work.value(&mut |field, text| place.text(field, text)));
        }
        None => field.note(&todo),
    }
    config.put("outputFiles", Output::Map(files));
    let mut out = super::executor_of(&executor);
    out.put("config", config);
    out
}
