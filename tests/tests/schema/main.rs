//! The document's JSON Schema: the shipped file is the generated one, and it accepts exactly what the reader does.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod config;
mod corpus;
mod mutations;
mod validator;

use std::fs;

use phasm_engine::{document, problem::Problem, problem::codes};
use serde_json::{Value, json};

use self::{
    corpus::{Document, documents, root, tree},
    mutations::Mutations,
    validator::Validator,
};

/// `PHASM_ACCEPT=1` rewrites it.
#[test]
fn the_shipped_schema_is_the_generated_one() {
    let file = root().join("host/engine/schema/workflow.schema.json");
    let generated = format!("{:#}\n", document::schema());
    if std::env::var_os("PHASM_ACCEPT").is_some() {
        fs::write(&file, &generated).unwrap();
    }
    assert!(fs::read_to_string(&file).unwrap() == generated, "stale; run this test with PHASM_ACCEPT=1");
}

/// Whether a problem is one that the schema finds, too: no expression, no name that is taken, and sayable.
fn is_shape(problem: &Problem) -> bool {
    let mut of_language = codes::expressions::ENTRIES.iter().chain(codes::functions::ENTRIES);
    let is_expression = of_language.any(|entry| entry.code == problem.code);
    !is_expression && problem.code != codes::names::DUPLICATE_NAME.code && !is_beyond(problem)
}

/// Whether a problem is one of shape that JSON Schema cannot say; [`document::schema`] lists them.
fn is_beyond(problem: &Problem) -> bool {
    let says = |text| problem.message.contains(text);
    let is_text = matches!(problem.value, Some(phasm_engine::value::Value::String(_)));
    match problem.code {
        // From start to end are more than a million values.
        "P015" => says("values; expected at most 1000000"),
        // The pairs of a duration's text add up to more than 2^63 − 1 ms.
        "P030" => says("too long") && is_text,
        // More than one placeholder makes a text, and a raw one is none; for the schema every `{{` may be one alone.
        "P035" => says("text with placeholders") || is_text && says_placeholder(problem),
        // A value is compared with a list beside it.
        "P036" => true,
        // Which days a month has, and whether a schedule ends before it comes.
        "P061" => true,
        "P063" => says("a day that there is"),
        // Only the last of a list may be an else.
        "P038" => says("else before other rules"),
        _ => false,
    }
}

fn says_placeholder(problem: &Problem) -> bool {
    let is_value = [".value", ".default"].iter().any(|field| problem.path.ends_with(field));
    is_value
        && problem.value.as_ref().and_then(|value| value.as_str()).is_some_and(|text| text.contains("{{"))
}

fn shape_problems(document: &Value) -> Vec<Problem> {
    let mut problems = document::check_shape(&tree(document));
    problems.retain(is_shape);
    problems
}

/// Returns how the verdicts on `document` differ, if they do.
fn disagreement(schema: &Validator, name: &str, path: &str, document: &Value) -> Option<String> {
    let problems = shape_problems(document);
    let accepted = schema.accepts(document);
    (accepted != problems.is_empty()).then(|| {
        let verdict = if accepted { "accepts" } else { "refuses" };
        let found: Vec<_> = problems.iter().map(ToString::to_string).collect();
        format!("{name} at {path}: the schema {verdict} it, the reader finds {found:#?}\n{document}")
    })
}

#[test]
fn every_document_is_valid_exactly_if_the_reader_says_so() {
    let schema = Validator::new(document::schema());
    let documents = documents();
    let (valid, invalid): (Vec<_>, Vec<_>) =
        documents.iter().partition(|document| shape_problems(&document.value).is_empty());
    assert!(valid.len() > 50 && invalid.len() > 15, "{} valid, {} invalid", valid.len(), invalid.len());
    let verdict = |document: &Document| disagreement(&schema, &document.name, "", &document.value);
    let wrong: Vec<_> = documents.iter().filter_map(verdict).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Otherwise nothing would be changed in it.
#[test]
fn every_field_is_in_a_valid_document() {
    let schema = Validator::new(document::schema());
    let valid = documents().into_iter().filter(|document| schema.accepts(&document.value)).count();
    assert!(valid > 0);
    // No document has a field that is always refused.
    assert_eq!(schema.not_met(), ["labelledTask.retry"]);
}

/// R-A116: what editors offer as an example of a field fits there.
#[test]
fn every_example_of_a_field_fits() {
    let all = document::schema();
    let schema = Validator::new(document::schema());
    let definitions = all["$defs"].as_object().unwrap().values();
    let fields = definitions.flat_map(|one| one["properties"].as_object().into_iter().flatten());
    let with_examples: Vec<_> = fields.filter(|(_, field)| field.get("examples").is_some()).collect();
    assert!(with_examples.len() > 20, "{}", with_examples.len());
    for (name, field) in with_examples {
        for example in field["examples"].as_array().unwrap() {
            assert!(schema.fits(field, example), "{name}: {example}");
        }
    }
}

#[test]
fn every_change_of_a_valid_document_is_judged_alike() {
    let schema = Validator::new(document::schema());
    let mut documents = documents();
    documents.retain(|document| shape_problems(&document.value).is_empty());
    // A mutation that several documents allow is tried in the smallest.
    documents.sort_by_key(|document| document.value.to_string().len());
    let mut mutations = Mutations::new(&document::schema());
    documents.iter().for_each(|document| mutations.learn(&document.value));
    let (mut wrong, mut judged) = (Vec::new(), 0);
    for Document { name, value } in &documents {
        for mutant in mutations.of(value) {
            let place = format!("{} ({:?})", mutant.path, mutant.change);
            wrong.extend(disagreement(&schema, name, &place, &mutant.document));
            judged += 1;
        }
    }
    assert!(judged > 30_000, "{judged} changes");
    let most: Vec<_> = wrong.iter().take(20).map(String::as_str).collect();
    assert!(wrong.is_empty(), "{} of {judged}:\n{}", wrong.len(), most.join("\n"));
}

/// Patterns are written beside what they stand for, so they are compared on every text that could matter.
#[test]
fn every_short_text_is_judged_alike() {
    let schema = Validator::new(document::schema());
    let template = |body: Value| {
        json!({ "apiVersion": "aether/v1", "kind": "Workflow", "metadata": { "name": "x" },
                "spec": { "entrypoint": "a", "templates": [body] } })
    };
    let task = template(json!({ "task": { "name": "a", "executor": { "type": "b" } } }));
    let sequence = template(json!({ "loop": { "name": "a", "body": "b", "sequence": { "end": 1 } } }));
    let steps = template(json!({ "pipeline": { "name": "a", "tasks": [{ "name": "b", "template": "c" }] } }));
    let rows = [
        (&task, "/spec/templates/0/task", "timeout", &["0", "1", " ", "h", "ms", "min", "-", "."][..]),
        (&task, "/spec/templates/0/task/executor", "type", &["a", "@", " ", "sha256:", "\u{e9}"]),
        (&task, "/metadata", "name", &["a", "0", "-", "_", "A"]),
        (&steps, "/spec/templates/0/pipeline/tasks/0", "name", &["a", "0", "-", "_", "A"]),
        (&sequence, "/spec/templates/0/loop/sequence", "format", &["%", "d", "0", "6", "5", "-", "s"]),
    ];
    let mut wrong = Vec::new();
    for (document, object, field, parts) in rows {
        for text in texts(parts, 4) {
            let mut document = document.clone();
            document.pointer_mut(object).unwrap()[field] = text.clone().into();
            wrong.extend(disagreement(&schema, &format!("{field} {text:?}"), object, &document));
        }
    }
    let mut sized = task.clone();
    for text in texts(&["0", "1", " ", "K", "M", "G", "i", "B"], 4) {
        sized["spec"]["templates"][0]["task"]["resources"] = json!({ "memory": text });
        wrong.extend(disagreement(&schema, &text, "memory", &sized));
    }
    let cron = json!({ "apiVersion": "aether/v1", "kind": "CronWorkflow", "metadata": { "name": "x" },
                       "spec": { "schedule": "@daily", "workflowSpec": task["spec"] } });
    for text in texts(&["*", "3", "8", "Wed", "-", "/", ",", "?"], 4) {
        let mut cron = cron.clone();
        cron["spec"]["schedule"] = format!("* * * * {text}").into();
        wrong.extend(disagreement(&schema, &text, "schedule", &cron));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Every text of at most `most` of these parts.
fn texts(parts: &[&str], most: usize) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut last = all.clone();
    for _ in 0..most {
        last = last.iter().flat_map(|text| parts.iter().map(move |part| format!("{text}{part}"))).collect();
        all.extend(last.iter().cloned());
    }
    all
}
