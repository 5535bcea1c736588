//! What a document may say and this version cannot run. Shrinks to nothing with the next one.

use crate::{
    plan::{Dag, Node, Plan, Recovery, Template, TemplateKind, Work},
    problem::Problem,
    tree::Span,
};

/// Everything in `plan` that cannot be run yet, so that nothing of it is run half.
#[must_use]
pub fn not_yet(plan: &Plan) -> Vec<Problem> {
    let mut problems = Vec::new();
    if !plan.hooks.hooks.is_empty() {
        problems.push(problem("spec.hooks".to_owned(), "hooks"));
    }
    check_node(&plan.root, "spec.entrypoint", &mut problems);
    for (index, template) in plan.templates.iter().enumerate() {
        check_template(template, &format!("spec.templates[{index}]"), &mut problems);
    }
    problems
}

fn check_template(template: &Template, path: &str, problems: &mut Vec<Problem>) {
    match &template.kind {
        TemplateKind::Task => {}
        TemplateKind::Dag(Dag { nodes, .. }) => {
            for node in nodes {
                check_node(node, &format!("{path}.dag.tasks.{}", node.name), problems);
            }
        }
        TemplateKind::Loop(_) => problems.push(problem(format!("{path}.loop"), "loops")),
        TemplateKind::Pipeline(_) => problems.push(problem(format!("{path}.pipeline"), "pipelines")),
    }
}

fn check_node(node: &Node, path: &str, problems: &mut Vec<Problem>) {
    let found = [
        (matches!(node.work, Work::Wrapper { .. }), "wrapper tasks"),
        (matches!(node.settings.recovery, Some(Recovery::Policy(_))), "policy rules"),
        (!node.settings.hooks.hooks.is_empty(), "hooks"),
    ];
    problems.extend(found.into_iter().filter(|(is, _)| *is).map(|(_, what)| problem(path.to_owned(), what)));
}

fn problem(path: String, what: &str) -> Problem {
    Problem {
        code: "P099",
        path,
        line: 0,
        column: 0,
        span: Span::default(),
        value: None,
        message: format!("{what} are read and validated, but cannot be run yet; expected tasks and dags"),
        hint: Some("this version runs task and dag templates".to_owned()),
    }
}
