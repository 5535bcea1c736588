//! Contents of plans. The problems of documents are tested where documents have positions, in the host's reader.

mod arguments;
mod audit;
mod containers;
mod determinism;
mod dialects;
mod hints;
mod max_parallelism;
mod merging;
mod recorded;
mod settings;
mod sizes;
mod variables;
mod waits;

use std::sync::Arc;

use crate::{problem::Problem, schedule::Concurrency, tree::Tree, value::Value};

use super::*;

/// A document with these templates, the entrypoint `main` and two parameters.
fn document(templates: &str) -> String {
    format!(
        r#"{{"apiVersion": "aether/v1", "kind": "Workflow", "metadata": {{"name": "test"}}, "spec": {{"entrypoint": "main",
            "arguments": {{"parameters": [{{"name": "region", "value": "eu"}}, {{"name": "size-", "default": 1}}]}},
            "templates": [{templates}, {{"task": {{"name": "work", "executor": {{"type": "echo"}}}}}}]}}}}"#
    )
}

fn build(templates: &str) -> Result<Plan, Vec<Problem>> {
    let value = Value::from_json(&document(templates)).unwrap();
    Draft::read(&Tree::from(&value)).plan(&Executors::any(), &Value::Null)
}

fn plan(templates: &str) -> Plan {
    build(templates).unwrap_or_else(|problems| panic!("{problems:#?}"))
}

/// The nodes of the dag or pipeline `main`.
fn nodes(plan: &Plan) -> &[Node] {
    let main = plan.templates.iter().find(|template| &*template.name == "main").unwrap();
    match &main.kind {
        TemplateKind::Dag(dag) => &dag.nodes,
        TemplateKind::Pipeline(pipeline) => &pipeline.nodes,
        TemplateKind::Task | TemplateKind::Wrapper(_) | TemplateKind::Loop(_) => panic!("main has no nodes"),
    }
}

/// The node of the only task of a dag `main`, after these templates.
fn with_node<T>(templates: &str, task: &str, look: impl FnOnce(&Plan, &Node) -> T) -> T {
    let templates = if templates.is_empty() { String::new() } else { format!("{templates},") };
    let plan = plan(&format!(r#"{templates} {{"dag": {{"name": "main", "tasks": [{task}]}}}}"#));
    look(&plan, &nodes(&plan)[0])
}

/// R-W3.
#[test]
fn the_top_has_its_defaults() {
    let plan = plan(r#"{"task": {"name": "main", "executor": {"type": "echo"}}}"#);
    assert_eq!((&*plan.name, &*plan.namespace, plan.cron), ("test", "default", None));
    assert_eq!((plan.timeout, plan.priority, plan.parallelism), (Some(3_600_000), 500, None));
    assert_eq!((&*plan.root.name, plan.root.template), ("main", Some(0)));
    assert!(matches!(&plan.root.work, Work::Executor(call) if &*call.executor_type == "echo"));
    assert_eq!(
        plan.document.value(),
        Value::from_json(&document(r#"{"task": {"name": "main", "executor": {"type": "echo"}}}"#)).unwrap()
    );
}

/// R-W4.
#[test]
fn a_cron_workflow_is_its_workflow() {
    let text = r#"{"apiVersion": "aether/v1", "kind": "CronWorkflow", "metadata": {"name": "nightly"}, "spec": {
        "schedule": "0 3 * * *", "concurrencyPolicy": "Forbid", "workflowSpec": {"entrypoint": "main", "timeout": "none",
        "templates": [{"task": {"name": "main", "executor": {"type": "echo"}}}]}}}"#;
    let plan = Draft::read(&Tree::from(&Value::from_json(text).unwrap()))
        .plan(&Executors::any(), &Value::Null)
        .unwrap();
    assert_eq!(plan.cron.unwrap().concurrency, Concurrency::Forbid);
    assert_eq!(plan.timeout, None);
}

/// R-B5.
#[test]
fn the_entrypoint_takes_parameters_of_the_same_name() {
    let plan = plan(
        r#"{"task": {"name": "main", "executor": {"type": "echo"}, "inputs": {"parameters": [
            {"name": "size-"}, {"name": "other", "value": 1}]}}}"#,
    );
    let [argument] = plan.root.arguments.as_slice() else { panic!("{:?}", plan.root.arguments) };
    assert_eq!(&*argument.name, "size-");
    let Some(ValueFrom::Expression(expr)) = &argument.value_from else { panic!("{argument:?}") };
    let path: Vec<&str> = expr.reads()[0].path.iter().map(|word| &**word).collect();
    assert_eq!(path, ["workflow", "parameters", "size-"]);
}

#[test]
fn documents_without_positions_have_problems_with_paths() {
    let problems =
        build(r#"{"dag": {"name": "main", "tasks": [{"name": "a", "template": "wrok"}, {"name": "a"}]}}"#)
            .unwrap_err();
    let found: Vec<_> = problems.iter().map(|p| (p.code, p.path.as_str(), p.line)).collect();
    assert_eq!(
        found,
        [
            ("P016", "spec.templates[0].dag.tasks[1]", 0),
            ("P021", "spec.templates[0].dag.tasks[1].name", 0),
            ("P020", "spec.templates[0].dag.tasks[0].template", 0),
        ]
    );
}
