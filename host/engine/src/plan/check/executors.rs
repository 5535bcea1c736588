//! Compares the inputs and outputs of calls of executors with the executors' manifests.

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    document::{
        ExecutorDoc, HookDoc, KindDoc, LoopDoc, ParameterDoc, ParametersDoc, TaskDoc, TemplateDoc, ValueDoc,
    },
    expr::ValueTemplate,
    form::{Name, Site, listed},
    plan::{
        resolve::index::{Callee, Index, hooks_of, tasks_of},
        schema::{self, Complaint},
    },
    problem::codes::{
        executors::{MISSING_INPUT, NEVER_RETURNED, UNFIT_INPUT, UNKNOWN_INPUT, UNKNOWN_SETTING},
        warnings::NEARLY_AN_INPUT,
    },
    tree::Tree,
    value::Value,
};

/// Member of `config` that holds the settings of the labelled form of a task.
const SPEC: &str = "spec";
/// Hint for an input that resembles none of the executor's.
const NO_OWN_INPUTS: &str = "a task passes all its inputs to its executor: a value that only its expressions read is an input of a dag around it, or is \
     written into the argument";
/// Beginning of the path of an input, as expressions read it.
const INPUT: [Option<&str>; 2] = [Some("inputs"), Some("parameters")];

/// Checks every call of an executor whose manifest says something.
pub(super) fn check(index: &Index<'_>) {
    if index.executors.is_empty() {
        return;
    }
    let spec = &index.doc.spec;
    if let Some((name, (_, template))) =
        spec.entrypoint.as_ref().and_then(|name| Some((name, index.find(name)?)))
    {
        of_template(template).for_each(|call| call.needed(index, &name.site, None));
    }
    spec.hooks.iter().for_each(|hook| check_hook(index, hook));
    for (_, template) in index.templates() {
        of_template(template).for_each(|call| call.declared(index));
        hooks_of(template).for_each(|hook| check_hook(index, hook));
        tasks_of(template).into_iter().flat_map(|tasks| &tasks.list).for_each(|task| check_task(index, task));
        if let KindDoc::Loop(read) = &template.kind {
            check_body(index, read);
        }
    }
}

/// An executor, and what it is called with.
struct ExecutorUse<'a> {
    executor: &'a ExecutorDoc,
    /// The task that has it.
    task: &'a TaskDoc,
    inputs: &'a ParametersDoc,
    outputs: &'a ParametersDoc,
}

fn of_template(template: &TemplateDoc) -> impl Iterator<Item = ExecutorUse<'_>> {
    let task = match &template.kind {
        KindDoc::Task(task) => task.executor().map(|executor| (executor, &**task)),
        KindDoc::Dag(_) | KindDoc::Loop(_) | KindDoc::Pipeline(_) => None,
    };
    task.into_iter().map(|(executor, task)| ExecutorUse {
        executor,
        task,
        inputs: &template.inputs,
        outputs: &template.outputs,
    })
}

fn check_task(index: &Index<'_>, task: &TaskDoc) {
    let site = task.name.as_ref().map_or(&task.site, |name| &name.site);
    match index.callee(task) {
        Callee::Inline => {
            let Some(executor) = task.executor() else { return };
            let call = ExecutorUse { executor, task, inputs: &task.inputs, outputs: &task.outputs };
            call.declared(index);
            call.passed(index, &task.arguments);
            call.needed_inline(index, site, &task.arguments);
        }
        Callee::Leaf(_, template) => {
            for call in of_template(template) {
                call.passed(index, &task.arguments);
                call.needed(index, site, Some(&task.arguments));
            }
        }
        Callee::Wrapper(..) | Callee::Container(..) | Callee::Unknown => {}
    }
}

fn check_body(index: &Index<'_>, read: &LoopDoc) {
    let Some((name, (_, template))) = read.body.as_ref().and_then(|name| Some((name, index.find(name)?)))
    else {
        return;
    };
    for call in of_template(template) {
        call.passed(index, &read.arguments);
        call.needed(index, &name.site, Some(&read.arguments));
    }
}

fn check_hook(index: &Index<'_>, hook: &HookDoc) {
    let Some((_, template)) = hook.template.as_ref().and_then(|name| index.find(name)) else { return };
    for call in of_template(template) {
        call.passed(index, &hook.arguments);
        call.needed_by_hook(index, hook);
    }
}

impl ExecutorUse<'_> {
    fn kind(&self) -> &str {
        &self.executor.kind.value
    }

    fn schema<'i>(&self, index: &Index<'i>) -> Option<&'i Value> {
        index.executors.get(self.kind()).map(|pinned| &pinned.inputs)
    }

    /// The inputs that are declared, and the outputs that nothing but the executor could give.
    fn declared(&self, index: &Index<'_>) {
        self.check_settings(index);
        let Some(schema) = self.schema(index) else { return };
        let given = self.given(None);
        for input in &self.inputs.list {
            self.check_input(index, schema, input, &given);
        }
        let Some(returned) = index.executors.get(self.kind()).map(|pinned| &pinned.outputs) else { return };
        for output in self.outputs.list.iter().filter(|output| !output.has_source) {
            self.check_output(index, returned, &output.name);
        }
    }

    /// Names in `config`, and in its `spec`, which is where the labelled form of a task has them.
    fn check_settings(&self, index: &Index<'_>) {
        let Some(pinned) = index.executors.get(self.kind()) else { return };
        let Some(config) = self.executor.config.as_ref().filter(|_| !pinned.settings.is_empty()) else {
            return;
        };
        let mut known = schema::properties(&pinned.inputs);
        known.extend(pinned.settings.iter().map(AsRef::as_ref));
        known.sort_unstable();
        known.dedup();
        let path = &config.site.path;
        let mut given: Vec<_> = names(&config.value).map(|name| (path.key(Arc::clone(name)), name)).collect();
        let nested = |name| (path.key(SPEC).key(Arc::clone(name)), name);
        given.extend(names_of_spec(&config.value).into_iter().map(nested));
        for (path, name) in given {
            if name.as_ref() == SPEC || known.contains(&name.as_ref()) {
                continue;
            }
            let message =
                format!("executor `{}` has no setting `{name}`; expected {}", self.kind(), listed(&known));
            let problem = Site { path, span: config.site.span }.problem(&UNKNOWN_SETTING, message);
            index
                .report
                .problem(problem.with_hint_if(index.report.did_you_mean(name, known.iter().copied())));
        }
    }

    /// The arguments of a call.
    fn passed(&self, index: &Index<'_>, arguments: &ParametersDoc) {
        let Some(schema) = self.schema(index) else { return };
        let given = self.given(Some(arguments));
        for argument in &arguments.list {
            // Declared inputs were checked where they are declared.
            if self.inputs.find(&argument.name.value).is_some() {
                self.check_values(index, schema, argument);
            } else {
                self.check_input(index, schema, argument, &given);
            }
        }
    }

    /// The names that inputs, `executor.config` and these arguments give a value.
    fn given<'g>(&'g self, arguments: Option<&'g ParametersDoc>) -> BTreeSet<&'g str> {
        self.inputs.names().chain(self.given_besides(arguments)).collect()
    }

    /// The names that `executor.config` and these arguments give a value.
    fn given_besides<'g>(&'g self, arguments: Option<&'g ParametersDoc>) -> impl Iterator<Item = &'g str> {
        let config = self.executor.config.iter().flat_map(|config| names(&config.value)).map(AsRef::as_ref);
        config.chain(arguments.into_iter().flat_map(ParametersDoc::names))
    }

    fn check_input(&self, index: &Index<'_>, schema: &Value, input: &ParameterDoc, given: &BTreeSet<&str>) {
        let name = &*input.name.value;
        if schema::property(schema, name).is_none() {
            if !schema::is_closed(schema) {
                return self.warn_nearly(index, schema, &input.name, given);
            }
            let known = schema::properties(schema);
            let message =
                format!("executor `{}` has no input `{name}`; expected {}", self.kind(), listed(&known));
            let problem = input.name.problem(&UNKNOWN_INPUT, message);
            let hint = index.report.did_you_mean(name, known).unwrap_or_else(|| NO_OWN_INPUTS.to_owned());
            index.report.problem(problem.with_hint(hint));
            return;
        }
        self.check_values(index, schema, input);
    }

    /// Warns of an input of an executor that takes any, which is called nearly as one that it knows and that is not given. A name
    /// that the task's own expressions read is meant.
    fn warn_nearly(&self, index: &Index<'_>, schema: &Value, name: &Name, given: &BTreeSet<&str>) {
        let known = schema::properties(schema);
        let left = known.iter().copied().filter(|known| !given.contains(known));
        let Some(hint) = index.report.did_you_mean(&name.value, left) else { return };
        if self.reads_input(&name.value) {
            return;
        }
        let message = format!(
            "executor `{}` knows no input `{}`; expected {}",
            self.kind(),
            name.value,
            listed(&known)
        );
        let hint = format!("{hint} it is passed on all the same");
        index.report.warning(name.problem(&NEARLY_AN_INPUT, message).with_hint(hint));
    }

    /// Whether an expression of the task reads this input.
    fn reads_input(&self, name: &str) -> bool {
        let mut is_read = false;
        self.task.each_read(&mut |found| {
            let mut path = found.read.path.iter().map(AsRef::as_ref);
            is_read |= [path.next(), path.next()] == INPUT && path.next() == Some(name);
        });
        is_read
    }

    fn check_values(&self, index: &Index<'_>, schema: &Value, input: &ParameterDoc) {
        let Some(of_input) = schema::property(schema, &input.name.value) else { return };
        for value in [&input.value, &input.default].into_iter().flatten() {
            self.check_value(index, of_input, &input.name, value);
        }
    }

    fn check_value(&self, index: &Index<'_>, schema: &Value, name: &Name, value: &ValueDoc) {
        let literal = value.value.as_literal();
        // Null is as good as nothing.
        if literal.is_some_and(Value::is_null) {
            return;
        }
        for Complaint { path, message } in schema::complaints(schema, &value.value) {
            let site = Site { path: value.site.path.suffixed(&path), span: value.site.span };
            let message = format!("input `{}` of executor `{}`: {message}", name.value, self.kind());
            let problem = site.problem(&UNFIT_INPUT, message);
            index.report.problem(match literal {
                Some(literal) => problem.with_value(&Tree::from(literal)),
                None => problem,
            });
        }
    }

    fn check_output(&self, index: &Index<'_>, schema: &Value, output: &Name) {
        let name = &*output.value;
        if !schema::is_closed(schema) || schema::property(schema, name).is_some() {
            return;
        }
        let known = schema::properties(schema);
        let message =
            format!("executor `{}` returns no output `{name}`; expected {}", self.kind(), listed(&known));
        let problem = output.problem(&NEVER_RETURNED, message);
        index.report.problem(problem.with_hint_if(index.report.did_you_mean(name, known)));
    }

    /// Reports required inputs that have no source. `executor.config` counts as a source too.
    fn needed(&self, index: &Index<'_>, site: &Site, arguments: Option<&ParametersDoc>) {
        if !self.inputs.sound || arguments.is_some_and(|arguments| !arguments.sound) {
            return;
        }
        self.report_needed(index, site, &self.given(arguments), |name| {
            let inputs = written(index, "inputs", name);
            match arguments {
                Some(_) => {
                    let arguments = written(index, "arguments", name);
                    format!("write {inputs} in the template, or pass it where it is called: {arguments}")
                }
                None => format!("write {inputs} in the template"),
            }
        });
    }

    /// Reports required inputs that a task with an executor of its own does not give.
    fn needed_inline(&self, index: &Index<'_>, site: &Site, arguments: &ParametersDoc) {
        if self.inputs.sound && arguments.sound {
            let hint = |name: &str| format!("write {}", written(index, "inputs", name));
            self.report_needed(index, site, &self.given(Some(arguments)), hint);
        }
    }

    /// Reports required inputs that a hook does not give, also declared ones where they may be absent (R-S12).
    fn needed_by_hook(&self, index: &Index<'_>, hook: &HookDoc) {
        if !self.inputs.sound || !hook.arguments.sound {
            return;
        }
        let is_bound = |input: &&ParameterDoc| input.has_source;
        let bound = self.inputs.list.iter().filter(is_bound).map(|input| &*input.name.value);
        let given = bound.chain(self.given_besides(Some(&hook.arguments))).collect();
        let hint = |name: &str| format!("pass it where it is called: {}", written(index, "arguments", name));
        self.report_needed(index, &hook.site, &given, hint);
    }

    fn report_needed(
        &self,
        index: &Index<'_>,
        site: &Site,
        given: &BTreeSet<&str>,
        hint: impl Fn(&str) -> String,
    ) {
        let Some(schema) = self.schema(index) else { return };
        for name in schema::required(schema).filter(|name| !given.contains(name)) {
            let message =
                format!("executor `{}` needs an input `{name}`; expected it to be given", self.kind());
            index.report.problem(site.problem(&MISSING_INPUT, message).with_hint(hint(name)));
        }
    }
}

/// How a value for `name` is written in the field `inputs` or `arguments` of a file of this dialect.
fn written(index: &Index<'_>, field: &str, name: &str) -> String {
    if index.doc.dialect.short_forms {
        format!("`{field}: {{{name}: …}}`")
    } else {
        format!("`{field}: {{parameters: [{{name: {name}, value: …}}]}}`")
    }
}

/// The names of the members that are written.
fn names(config: &ValueTemplate) -> impl Iterator<Item = &Arc<str>> {
    let (members, literal) = match config {
        ValueTemplate::Object(members) => (Some(members), None),
        ValueTemplate::Literal(literal) => (None, literal.as_object()),
        ValueTemplate::Placeholder(_) | ValueTemplate::Text(_) | ValueTemplate::Array(_) => (None, None),
    };
    let members = members.into_iter().flat_map(|members| members.iter().map(|(name, _)| name));
    members.chain(literal.into_iter().flat_map(|map| map.keys()))
}

/// The names of the members of `spec`.
fn names_of_spec(config: &ValueTemplate) -> Vec<&Arc<str>> {
    match config {
        ValueTemplate::Object(members) => {
            let spec = members.iter().find(|(name, _)| &**name == SPEC);
            spec.into_iter().flat_map(|(_, spec)| names(spec)).collect()
        }
        ValueTemplate::Literal(literal) => {
            let spec = literal.member(SPEC).and_then(Value::as_object);
            spec.into_iter().flat_map(|spec| spec.keys()).collect()
        }
        ValueTemplate::Placeholder(_) | ValueTemplate::Text(_) | ValueTemplate::Array(_) => Vec::new(),
    }
}
