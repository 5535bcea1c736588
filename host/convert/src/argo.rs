//! Argo Workflows: Workflow, WorkflowTemplate and CronWorkflow.

mod calls;
mod depends;
mod hints;
mod items;
mod leaves;
mod rule;
mod survey;
mod timing;

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use crate::{
    expression::{placeholder, template},
    fields::Field,
    names::{Names, member, name, parameter},
    yaml::Output,
};

pub(crate) use hints::hint;
use survey::{Kind, Survey};

/// Levels of containers that a workflow has without a field, and at most.
const DEPTHS: (usize, usize) = (3, 10);

/// Names that the expressions of a place see.
#[derive(Default)]
pub(super) struct Place {
    /// Tasks of the dag by their names in the source.
    pub(super) tasks: Rc<BTreeMap<String, Task>>,
    /// References that a loop takes as inputs, by their names there; none outside of loops.
    pub(super) lifted: Option<BTreeMap<String, String>>,
    /// Whether the place is a condition of a retry.
    pub(super) is_retry: bool,
}

/// A task as expressions see it.
#[derive(Clone)]
pub(super) struct Task {
    pub(super) name: String,
    /// Name of the output that is Argo's `result`.
    pub(super) result: &'static str,
}

impl Place {
    /// Converts a path; none if it has no counterpart.
    pub(super) fn path(&mut self, path: &[String]) -> Option<String> {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        let found = match path.as_slice() {
            ["workflow", "uid"] => "workflow.id".to_owned(),
            ["workflow", "status"] => "workflow.phase".to_owned(),
            ["workflow", member @ ("name" | "namespace" | "scheduledTime" | "parameters")] => {
                format!("workflow.{member}")
            }
            ["workflow", "parameters", name] => format!("workflow.parameters.{}", parameter(name)),
            ["workflow", "labels", name] => format!("workflow.labels[{}]", crate::expression::quoted(name)),
            ["item"] => return Some("loop.item".to_owned()),
            ["item", members @ ..] => {
                let members = members.iter().map(|member| format!("[{}]", crate::expression::quoted(member)));
                return Some(format!("loop.item{}", members.collect::<String>()));
            }
            ["lastRetry", "exitCode"] if self.is_retry => "code".to_owned(),
            ["lastRetry", "status"] if self.is_retry => "phase".to_owned(),
            ["lastRetry", "message"] if self.is_retry => "msg".to_owned(),
            ["inputs", "parameters", name] => {
                let name = parameter(name);
                return Some(self.lift(&name, member("inputs", &name)));
            }
            ["tasks" | "steps", task, rest @ ..] => {
                let task = self.tasks.get(*task)?.clone();
                let (name, result) = (&task.name, task.result);
                let (wish, path) = match rest {
                    ["outputs", "result"] => {
                        (result.to_owned(), member(&format!("tasks.{name}.outputs"), result))
                    }
                    ["outputs", "parameters", output] => {
                        let output = parameter(output);
                        (output.clone(), member(&format!("tasks.{name}.outputs"), &output))
                    }
                    ["outputs", "parameters"] => {
                        ("outputs".to_owned(), format!("tasks.{name}.outputs.parameters"))
                    }
                    ["status"] => ("phase".to_owned(), format!("tasks.{name}.phase")),
                    ["exitCode"] => ("code".to_owned(), format!("tasks.{name}.code")),
                    _ => return None,
                };
                return Some(self.lift(&format!("{name}-{wish}"), path));
            }
            _ => return None,
        };
        Some(found)
    }

    /// Returns a reference as the body of a loop sees it.
    fn lift(&mut self, wish: &str, reference: String) -> String {
        let Some(lifted) = &mut self.lifted else { return reference };
        let mut name = wish.to_owned();
        while lifted.get(&name).is_some_and(|other| *other != reference) {
            name.push('_');
        }
        lifted.insert(name.clone(), reference);
        member("inputs", &name)
    }

    /// Converts a text with placeholders.
    pub(super) fn text(&mut self, field: &Field<'_>, text: &str) -> Output {
        let (text, failed) =
            template(text, "{{", &mut |inside| placeholder(inside, &mut |path| self.path(path)));
        for placeholder in failed {
            let shown = crate::fields::short(&placeholder, 60);
            field.note(&format!(
                "`{shown}` has no counterpart; the placeholder stays as text, so write an expression of Phasm"
            ));
        }
        Output::Text(text)
    }

    /// Converts a value in which numbers and truth values are text, as parameters of Argo are.
    pub(super) fn parameter(&mut self, field: &Field<'_>) -> Output {
        match field.text() {
            Some(text) => self.text(field, &text),
            None => field.value(&mut |field, text| self.text(field, text)),
        }
    }
}

/// Parameters by name, each with its members.
pub(super) type Parameters = Vec<(String, Vec<(&'static str, Output)>)>;

/// Writes inputs or arguments under their names: with their values alone where no entry has more.
pub(super) fn parameters(list: Parameters) -> Output {
    let short = |members: &[(&str, Output)]| match members {
        [] => Some(Output::Null),
        [("value", value)] if !matches!(value, Output::Null) => Some(value.clone()),
        _ => None,
    };
    group(list, short, |members| match members {
        [] => Some(Output::Null),
        [("default", value)] if !matches!(value, Output::Null | Output::Map(_)) => Some(value.clone()),
        _ => None,
    })
}

/// Writes outputs under their names: as expressions where no entry has more.
pub(super) fn outputs(list: Parameters) -> Output {
    let short = |members: &[(&str, Output)]| match members {
        [] => Some(Output::Null),
        [("valueFrom", Output::Map(source))] => match source.as_slice() {
            [(key, expression)] if key == "expression" => Some(expression.clone()),
            _ => None,
        },
        _ => None,
    };
    group(list, short, short)
}

/// Writes the parameters of the workflow.
pub(super) fn of_workflow(list: Parameters) -> Output {
    if list.is_empty() {
        return Output::Null;
    }
    Output::Map(list.into_iter().map(|(name, members)| (name, fields(members))).collect())
}

/// Writes a group of parameters: by `short` if that has a value for every entry, and else below `parameters`, where `alone` has the
/// value of an entry without other fields.
fn group(
    list: Parameters,
    short: impl Fn(&[(&'static str, Output)]) -> Option<Output>,
    alone: impl Fn(&[(&'static str, Output)]) -> Option<Output>,
) -> Output {
    if list.is_empty() {
        return Output::Null;
    }
    let is_reserved = list.iter().any(|(name, _)| name == "parameters" || name == "artifacts");
    let all = list.iter().map(|(name, members)| Some((name.clone(), short(members)?))).collect();
    if let Some(all) = Option::filter(all, |_| !is_reserved) {
        return Output::Map(all);
    }
    let one = |(name, members): (String, Vec<(&'static str, Output)>)| {
        let value = alone(&members).unwrap_or_else(|| fields(members));
        (name, value)
    };
    Output::from([("parameters", Output::Map(list.into_iter().map(one).collect()))])
}

fn fields(members: Vec<(&'static str, Output)>) -> Output {
    Output::Map(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

/// State of a conversion.
pub(super) struct Converter {
    survey: Survey,
    names: Names,
    /// Templates that are converted, by their names in the source.
    done: BTreeSet<String>,
    /// Templates as they are written.
    templates: Vec<Output>,
    /// Templates that a template calls, by their names in the result.
    children: BTreeMap<String, Vec<String>>,
}

impl Converter {
    pub(super) fn add(&mut self, kind: &str, body: Output) {
        self.templates.push(Output::from([(kind, body)]));
    }

    pub(super) fn calls(&mut self, caller: &str, callee: &str) {
        self.children.entry(caller.to_owned()).or_default().push(callee.to_owned());
    }

    /// Returns the number of containers around the deepest task.
    fn depth(&self, entrypoint: &str) -> usize {
        let mut level = vec![entrypoint.to_owned()];
        let mut depth = 0;
        while depth <= DEPTHS.1 {
            let mut next: Vec<_> =
                level.iter().filter_map(|name| self.children.get(name)).flatten().cloned().collect();
            next.sort();
            next.dedup();
            if next.is_empty() {
                break;
            }
            level = next;
            depth += 1;
        }
        depth
    }
}

/// Converts a file of Argo Workflows.
pub(crate) fn convert(root: &Field<'_>) -> Output {
    root.get("apiVersion").inspect(Field::used);
    let kind = root.get("kind").and_then(|kind| {
        let text = kind.peek()?;
        ["Workflow", "WorkflowTemplate", "ClusterWorkflowTemplate", "CronWorkflow"]
            .contains(&text.as_str())
            .then(|| {
                kind.used();
                text
            })
    });
    let is_cron = kind.as_deref() == Some("CronWorkflow");
    let metadata = root.get("metadata").map(|field| metadata(&field)).unwrap_or_default();
    let spec = root.get("spec");
    let mut workflow = Output::from([
        ("apiVersion", "phasm/v1".into()),
        ("kind", if is_cron { "CronWorkflow" } else { "Workflow" }.into()),
        ("metadata", named(metadata)),
    ]);
    let inner = if is_cron { spec.as_ref().and_then(|spec| spec.get("workflowSpec")) } else { spec.clone() };
    let mut converted = spec_of(inner.as_ref());
    if is_cron {
        let schedule = spec.as_ref().map(schedule).unwrap_or_default();
        let mut cron = Output::Map(schedule);
        cron.put("workflowSpec", converted);
        converted = cron;
    }
    workflow.put("spec", converted);
    workflow
}

fn named(mut metadata: Vec<(String, Output)>) -> Output {
    if !metadata.iter().any(|(name, _)| name == "name") {
        metadata.insert(0, ("name".to_owned(), "converted".into()));
    }
    Output::Map(metadata)
}

fn metadata(field: &Field<'_>) -> Vec<(String, Output)> {
    let mut found = Vec::new();
    let mut has_name = false;
    for key in ["name", "generateName"] {
        if let Some(field) = field.get(key)
            && !has_name
            && let Some(text) = field.text()
        {
            found.push(("name".to_owned(), Output::Text(name(&text))));
            has_name = true;
        }
    }
    if let Some(namespace) = field.get("namespace")
        && let Some(text) = namespace.text()
    {
        found.push(("namespace".to_owned(), Output::Text(name(&text))));
    }
    for key in ["labels", "annotations"] {
        let mut pairs = Vec::new();
        for (label, field) in field.get(key).iter().flat_map(Field::members) {
            let is_new = !pairs.iter().any(|(other, _)| other == label);
            if let Some(text) = is_new.then(|| field.text()).flatten() {
                pairs.push((label.to_owned(), Output::Text(text)));
            }
        }
        if !pairs.is_empty() {
            found.push((key.to_owned(), Output::Map(pairs)));
        }
    }
    found
}

/// Converts the fields around `workflowSpec`.
fn schedule(spec: &Field<'_>) -> Vec<(String, Output)> {
    let mut cron = Output::Map(Vec::new());
    let schedules = spec.get("schedules");
    let first = spec.get("schedule").or_else(|| schedules.as_ref()?.items().into_iter().next());
    cron.put("schedule", first.and_then(|first| first.text()).unwrap_or_else(|| "@daily".to_owned()));
    if let Some(timezone) = spec.get("timezone").and_then(|field| field.text()) {
        cron.put("timezone", timezone);
    }
    if let Some(policy) = spec.get("concurrencyPolicy")
        && policy.peek().is_some_and(|text| ["Allow", "Forbid", "Replace"].contains(&text.as_str()))
    {
        cron.put("concurrencyPolicy", policy.text().unwrap_or_default());
    }
    for (key, least) in
        [("startingDeadlineSeconds", 1), ("successfulJobsHistoryLimit", 0), ("failedJobsHistoryLimit", 0)]
    {
        if let Some(field) = spec.get(key)
            && field.peek().and_then(|text| text.parse::<i64>().ok()).is_some_and(|number| number >= least)
            && let Some(number) = field.int()
        {
            cron.put(key, number);
        }
    }
    if let Some(suspend) = spec.get("suspend").and_then(|field| field.bool()) {
        cron.put("suspend", suspend);
    }
    if let Some(metadata) = spec.get("workflowMetadata").map(|field| metadata(&field)) {
        cron.put("workflowMetadata", Output::Map(metadata));
    }
    if let Output::Map(members) = cron { members } else { Vec::new() }
}

/// Converts a spec; without one there is a placeholder.
fn spec_of(spec: Option<&Field<'_>>) -> Output {
    let templates: Vec<Field<'_>> =
        spec.and_then(|spec| spec.get("templates")).iter().flat_map(Field::items).collect();
    let mut names = Names::default();
    let mut converter = Converter {
        survey: Survey::of(&templates, &mut names),
        names,
        done: BTreeSet::new(),
        templates: Vec::new(),
        children: BTreeMap::new(),
    };
    let mut out = Output::Map(Vec::new());
    let written = spec.and_then(|spec| spec.get("entrypoint"));
    let wish = written.as_ref().and_then(Field::text).or_else(|| converter.survey.first());
    let entrypoint = match wish.as_deref().and_then(|wish| converter.survey.get(wish)) {
        Some(template) => template.name.clone(),
        None => {
            let name = converter.names.fresh(wish.as_deref().unwrap_or("main"));
            let executor = match spec.and_then(|spec| spec.get("workflowTemplateRef")) {
                Some(reference) => {
                    let target = reference.get("name").and_then(|field| field.text()).unwrap_or_default();
                    reference.note("the templates are in another file: convert that file, and put this one's parameters there");
                    crate::names::name(&target)
                }
                None => name.clone(),
            };
            let body = Output::from([("name", name.clone().into()), ("executor", executor_of(&executor))]);
            converter.add("task", body);
            name
        }
    };
    out.put("entrypoint", entrypoint.clone());
    if let Some(spec) = spec {
        limits(spec, &mut out);
        let arguments = spec.get("arguments").and_then(|arguments| arguments.get("parameters"));
        out.put("parameters", of_workflow(leaves::declared(arguments.as_ref(), true)));
        hooks(spec, &mut converter, &mut out);
    }
    for template in &templates {
        converter.template(template);
    }
    let depth = converter.depth(&entrypoint);
    if depth > DEPTHS.0 {
        out.put("maxNestedDepth", i64::try_from(depth.min(DEPTHS.1)).unwrap_or_default());
    }
    if depth > DEPTHS.1
        && let Some(spec) = spec
    {
        spec.note(
            "more than 10 levels of containers lie around a task; put tasks of inner ones into outer ones",
        );
    }
    out.put("templates", Output::List(converter.templates));
    out
}

/// Returns an executor that the user writes.
pub(super) fn executor_of(name: &str) -> Output {
    Output::from([("type", name.into())])
}

fn limits(spec: &Field<'_>, out: &mut Output) {
    if let Some(field) = spec.get("activeDeadlineSeconds")
        && let Some(timeout) = timing::seconds(&field)
    {
        out.put("timeout", timeout);
    }
    if let Some(field) = spec.get("parallelism")
        && let Some(number) = timing::count(&field)
    {
        out.put("parallelism", number);
    }
}

fn hooks(spec: &Field<'_>, converter: &mut Converter, out: &mut Output) {
    let mut hooks = Output::Map(Vec::new());
    if let Some(field) = spec.get("onExit") {
        hooks.put("onExit", converter.hook(&field, None));
    }
    if let Some(exit) = spec.get("hooks").and_then(|hooks| hooks.get("exit")) {
        if hooks.is_empty() {
            hooks.put("onExit", converter.hook_object(&exit));
        } else {
            exit.leave("`onExit` is a hook of the same name; put both into one template");
        }
    }
    out.put("hooks", hooks);
}

impl Converter {
    /// Converts a hook that is a template's name.
    pub(super) fn hook(&mut self, field: &Field<'_>, arguments: Option<Output>) -> Output {
        let Some(wish) = field.peek() else { return Output::Null };
        match self.survey.get(&wish) {
            Some(template) if matches!(template.kind, Kind::Leaf { .. }) => {
                field.used();
                let mut hook = Output::from([("template", template.name.clone().into())]);
                hook.put("arguments", arguments.unwrap_or(Output::Null));
                hook
            }
            Some(template) if matches!(template.kind, Kind::Graph) => {
                field.leave("a hook runs one task; put the work into one task, or make it the last task of the dag, behind tasks with `continueOn`");
                Output::Null
            }
            Some(_) => {
                field.leave("a hook cannot wait for a person");
                Output::Null
            }
            None => {
                field.leave("there is no such template in this file");
                Output::Null
            }
        }
    }

    /// Converts a hook with arguments, and with an expression.
    pub(super) fn hook_object(&mut self, exit: &Field<'_>) -> Output {
        let Some(template) = exit.get("template") else { return Output::Null };
        let mut place = Place::default();
        let arguments = Self::arguments(exit, &mut place);
        let mut hook = self.hook(&template, Some(parameters(arguments)));
        if let Some(expression) = exit.get("expression")
            && let Some(text) = expression.peek()
            && let Some(converted) = crate::expression::expression(&text, &mut |path| place.path(path))
        {
            expression.used();
            hook.put("when", converted);
        }
        hook
    }
}
