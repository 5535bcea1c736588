//! Every expression of the document against what it sees, for every way its template is reached.

use std::collections::BTreeSet;

use crate::{
    document::{
        ConditionsDoc, ExprDoc, HookDoc, KindDoc, LoopDoc, OverDoc, ParametersDoc, ReadAt, RecoveryDoc,
        SettingsDoc, SourceDoc, TaskDoc, TemplateDoc, ValueDoc, WorkDoc,
    },
    form::Name,
    plan::resolve::{
        graph::Graphs,
        index::{Callee, Index, tasks_of},
    },
    problem::codes::expressions::{NOT_VISIBLE, UNDECLARED_OUTPUT},
};

use super::{
    call_paths::{CallPath, call_paths},
    comparing, items, operating, passing, reading,
    visible::{
        OutputNames, Siblings, Visible, outputs_of, outputs_of_template, returned_by, returned_by_task,
    },
};

/// Checks every expression.
pub(super) fn check(index: &Index<'_>, graphs: &Graphs) {
    let checker = Checker { index, graphs };
    checker.arguments();
    let spec = &index.doc.spec;
    let everywhere = Visible::everywhere(index.doc);
    for hook in &spec.hooks {
        checker.hook(hook, &everywhere);
    }
    if let Some((_, template)) = spec.entrypoint.as_ref().and_then(|name| index.find(name)) {
        checker.items_from(template, &everywhere);
        passing::check_root(index, &template.inputs);
    }
    for reached in call_paths(index) {
        checker.template(&reached);
    }
}

/// The segment behind one of `places` in the path that is read.
fn name_at<'a>(found: &ReadAt<'a>, places: &[&[&str]]) -> Option<&'a str> {
    let path = &found.read.path;
    let behind = |place: &&[&str]| {
        let fits =
            place.iter().enumerate().all(|(at, word)| path.get(at).is_some_and(|found| &**found == *word));
        if fits { path.get(place.len()) } else { None }
    };
    places.iter().find_map(behind).map(|name| &**name)
}

struct Checker<'i, 'a> {
    index: &'i Index<'a>,
    graphs: &'a Graphs,
}

impl<'a> Checker<'_, 'a> {
    fn expr(&self, expr: &ExprDoc, scope: &Visible<'a>) {
        expr.reads().for_each(|found| self.read(&found, scope));
        expr.comparisons().for_each(|found| comparing::check(self.index, scope, &found));
        expr.operations().for_each(|found| operating::check(self.index, scope, &found));
    }

    fn read(&self, found: &ReadAt<'_>, scope: &Visible<'a>) {
        reading::check(self.index, scope, found);
        operating::check_member(self.index, scope, found);
    }

    fn value(&self, value: &ValueDoc, scope: &Visible<'a>) {
        value.reads().for_each(|found| self.read(&found, scope));
        value.comparisons().for_each(|found| comparing::check(self.index, scope, &found));
        value.operations().for_each(|found| operating::check(self.index, scope, &found));
    }

    fn parameters(&self, parameters: &ParametersDoc, scope: &Visible<'a>) {
        for parameter in &parameters.list {
            parameter.value.iter().chain(&parameter.default).for_each(|value| self.value(value, scope));
            if let Some(SourceDoc::Expression(expr)) = &parameter.value_from {
                self.expr(expr, scope);
            }
        }
    }

    /// The arguments of a call, which see `scope`.
    fn arguments_of(&self, callee: Option<&'a TemplateDoc>, arguments: &ParametersDoc, scope: &Visible<'a>) {
        self.parameters(arguments, scope);
        if let Some(template) = callee {
            passing::check_arguments(self.index, scope, arguments, &template.inputs);
        }
    }

    fn find(&self, name: Option<&Name>) -> Option<&'a TemplateDoc> {
        name.and_then(|name| self.index.find(name)).map(|(_, template)| template)
    }

    /// spec.arguments: workflow, system, vars, and of the parameters those declared before.
    fn arguments(&self) {
        let arguments = &self.index.doc.spec.arguments;
        let everywhere = Visible::everywhere(self.index.doc);
        self.parameters(arguments, &everywhere);
        passing::check_declared(self.index, &everywhere, arguments);
        self.order(arguments, &[&["workflow", "parameters"], &["workflow", "arguments", "parameters"]]);
    }

    /// A template's input declarations, which see the inputs declared before.
    fn declarations(&self, inputs: &'a ParametersDoc, outside: &Visible<'a>) {
        let scope = Visible { inputs: Some(vec![inputs]), ..outside.clone() };
        self.parameters(inputs, &scope);
        passing::check_declared(self.index, &scope, inputs);
        self.order(inputs, &[&["inputs", "parameters"]]);
    }

    /// Reports parameters that read one of the list that is bound after them; the list is found at `places`.
    fn order(&self, parameters: &ParametersDoc, places: &[&[&str]]) {
        let mut later: BTreeSet<&str> = parameters.names().collect();
        for parameter in &parameters.list {
            parameter.each_read(&mut |found| {
                if let Some(name) = name_at(&found, places).filter(|name| later.contains(name)) {
                    let message =
                        format!("parameter `{name}` has no value yet; expected one declared before this");
                    let problem = found.site().problem(&NOT_VISIBLE, message);
                    self.index.report.problem(problem.with_hint(format!("declare `{name}` first")));
                }
            });
            later.remove(&*parameter.name.value);
        }
    }

    fn hook(&self, hook: &HookDoc, scope: &Visible<'a>) {
        let scope = scope.with(|sees| sees.hook = true);
        self.arguments_of(self.find(hook.template.as_ref()), &hook.arguments, &scope);
        hook.when.iter().for_each(|expr| self.expr(expr, &scope));
    }

    fn template(&self, way: &CallPath<'a>) {
        let template = way.template;
        let everywhere = Visible { via: way.via, ..Visible::everywhere(self.index.doc) };
        let outside = everywhere.with(|sees| sees.iteration = way.in_loop);
        self.declarations(&template.inputs, &outside);
        let inside = Visible { inputs: Some(vec![&template.inputs]), ..outside };
        match &template.kind {
            KindDoc::Task(task) => self.task_template(task, way, &inside),
            KindDoc::Dag(dag) => {
                for (position, task) in dag.tasks.list.iter().enumerate() {
                    let siblings = self.graphs.get(&way.id).map_or(Siblings::Unknown, |graph| {
                        Siblings::Upstream { tasks: &dag.tasks, graph, task: position }
                    });
                    self.task(task, &template.inputs, &Visible { siblings, ..inside.clone() });
                }
                self.container(template, &inside, &Siblings::All { tasks: &dag.tasks, labels: false });
            }
            KindDoc::Pipeline(pipeline) => {
                let siblings = Siblings::All { tasks: &pipeline.tasks, labels: true };
                let inside = Visible { siblings, ..inside }.with(|sees| sees.pipeline = true);
                let on_task = inside.with(|sees| sees.task = true);
                for task in &pipeline.tasks.list {
                    self.task(task, &template.inputs, &on_task);
                }
                self.container(template, &inside, &siblings);
            }
            KindDoc::Loop(_) => self.loop_template(template, &inside),
        }
    }

    fn task_template(&self, task: &'a TaskDoc, way: &CallPath<'a>, inside: &Visible<'a>) {
        if let WorkDoc::Executor(executor) = &task.work {
            executor.config.iter().for_each(|config| self.value(config, inside));
        }
        let wrapped = self.index.wrapped(way.template).map(|(_, wrapped)| wrapped);
        self.arguments_of(wrapped, &task.arguments, inside);
        wrapped.iter().for_each(|wrapped| self.items_from(wrapped, inside));
        let own = way.template.name.as_ref().map(|name| &*name.value);
        let seen_as = |outputs| {
            let selves = own.into_iter().chain(way.task).map(|name| (name, outputs)).collect();
            Visible { selves, ..inside.clone() }
        };
        let returned = seen_as(returned_by(self.index, way.template));
        self.parameters(&task.outputs, &returned);
        let finished = seen_as(outputs_of_template(self.index, way.template));
        self.settings(&task.settings, &returned, &finished);
    }

    /// Checks the settings for the time after an attempt, and hooks. Conditions see the `returned` outputs, before the whitelist.
    fn settings(&self, settings: &'a SettingsDoc, returned: &Visible<'a>, finished: &Visible<'a>) {
        let judged = returned.with(|sees| sees.attempt = true);
        settings
            .phase_conditions
            .iter()
            .flat_map(ConditionsDoc::expressions)
            .for_each(|expr| self.expr(expr, &judged));
        let attempt = finished.with(|sees| sees.attempt = true);
        match &settings.recovery {
            Some(RecoveryDoc::Retry(retry)) => {
                retry.expression.iter().for_each(|expr| self.expr(expr, &attempt));
            }
            Some(RecoveryDoc::Policy(policy)) => {
                let scope = finished.with(|sees| {
                    sees.outcome = true;
                    sees.task = true;
                });
                for rule in &policy.rules {
                    rule.when.iter().for_each(|expr| self.expr(expr, &scope));
                    rule.set_iter
                        .iter()
                        .chain(&rule.set_ctx)
                        .for_each(|(_, value)| self.value(value, &scope));
                }
            }
            None => {}
        }
        settings.hooks.iter().flatten().for_each(|hook| self.hook(hook, finished));
    }

    /// A task of a dag or pipeline, whose surroundings are `node`.
    fn task(&self, task: &'a TaskDoc, container: &'a ParametersDoc, node: &Visible<'a>) {
        task.when.iter().for_each(|expr| self.expr(expr, node));
        let callee = self.index.callee(task).template().map(|(_, template)| template);
        self.arguments_of(callee, &task.arguments, node);
        self.parameters(&task.inputs, node);
        passing::check_declared(self.index, node, &task.inputs);
        passing::check_arguments(self.index, node, &task.arguments, &task.inputs);
        let own = task.name.as_ref().map(|name| &*name.value);
        let seen_as = |outputs| {
            let selves = own.map(|name| (name, outputs)).into_iter().collect();
            Visible { selves, ..node.clone() }
        };
        let callee = self.index.callee(task);
        let template = callee.template();
        let returned = seen_as(template.map_or_else(
            || returned_by_task(self.index, task),
            |(_, called)| returned_by(self.index, called),
        ));
        let finished = seen_as(outputs_of(self.index, task));
        if let WorkDoc::Executor(executor) = &task.work {
            let inputs = Some(vec![&task.inputs, container]);
            let config = Visible { inputs: inputs.clone(), ..node.clone() };
            executor.config.iter().for_each(|value| self.value(value, &config));
            self.parameters(&task.outputs, &Visible { inputs, ..returned.clone() });
        }
        match callee {
            Callee::Container(_, template) => {
                self.items_from(template, node);
                self.call_settings(task, template, &finished);
            }
            Callee::Inline | Callee::Leaf(..) | Callee::Wrapper(..) | Callee::Unknown => {
                self.settings(&task.settings, &returned, &finished);
            }
        }
    }

    /// phaseConditions and hooks on a call of a container, which also see its children (R-C5).
    fn call_settings(&self, task: &'a TaskDoc, template: &'a TemplateDoc, finished: &Visible<'a>) {
        let mut conditions = finished.with(|sees| {
            sees.container = true;
            sees.children = true;
        });
        conditions.children = tasks_of(template);
        conditions.selves.extend(self.body_of(template));
        let expressions = task.settings.phase_conditions.iter().flat_map(ConditionsDoc::expressions);
        expressions.for_each(|expr| self.expr(expr, &conditions));
        task.settings.hooks.iter().flatten().for_each(|hook| self.hook(hook, finished));
    }

    /// A loop's body, by its name.
    fn body_of(&self, template: &'a TemplateDoc) -> Option<(&'a str, OutputNames<'a>)> {
        let KindDoc::Loop(read) = &template.kind else { return None };
        let name = read.body.as_ref()?;
        let outputs =
            self.index.find(name).map_or(OutputNames::Any, |(_, body)| outputs_of_template(self.index, body));
        Some((&*name.value, outputs))
    }

    /// A container's outputs and phaseConditions, which see its children.
    fn container(&self, template: &'a TemplateDoc, inside: &Visible<'a>, children: &Siblings<'a>) {
        let scope = Visible { siblings: *children, ..inside.with(|sees| sees.children = true) };
        self.parameters(&template.outputs, &scope);
        let scope = scope.with(|sees| sees.container = true);
        let conditions = template.settings.phase_conditions.iter().flat_map(ConditionsDoc::expressions);
        conditions.for_each(|expr| self.expr(expr, &scope));
    }

    fn loop_template(&self, template: &'a TemplateDoc, inside: &Visible<'a>) {
        let KindDoc::Loop(read) = &template.kind else { return };
        let iteration = inside.with(|sees| sees.iteration = true);
        let body = self.find(read.body.as_ref());
        self.arguments_of(body, &read.arguments, &iteration);
        let bodies = Visible { selves: self.body_of(template).into_iter().collect(), ..inside.clone() };
        if let Some(body) = body {
            self.items_from(body, inside);
            items::check(self.index, read, &body.inputs);
        }
        match &read.over {
            OverDoc::Items(items) => items.iter().for_each(|item| self.value(&item.value, inside)),
            OverDoc::ItemsFrom(expr) => {
                // The call site's tasks are checked at each call.
                self.expr(expr, &Visible { siblings: Siblings::Unknown, ..inside.clone() });
            }
            OverDoc::Repeat(expr) => {
                self.expr(expr, &bodies.with(|sees| sees.iteration = true));
            }
            OverDoc::Sequence(_) | OverDoc::Unreadable => {}
        }
        self.aggregated(read, body);
        self.container(template, &bodies, &Siblings::None);
    }

    /// The outputs to aggregate, which the body must have.
    fn aggregated(&self, read: &LoopDoc, body: Option<&'a TemplateDoc>) {
        let Some(body) = body else { return };
        let outputs = outputs_of_template(self.index, body);
        let own = body.name.as_ref().map_or("", |name| &*name.value);
        for name in read.aggregated.iter().flatten() {
            if let Err((message, hint)) = reading::output(self.index, &outputs, own, &name.value) {
                self.index.report.problem(name.problem(&UNDECLARED_OUTPUT, message).with_hint_if(hint));
            }
        }
    }

    /// The tasks that the itemsFrom of a loop asks for, seen from a call of it.
    fn items_from(&self, template: &'a TemplateDoc, node: &Visible<'a>) {
        let KindDoc::Loop(read) = &template.kind else { return };
        let OverDoc::ItemsFrom(expr) = &read.over else { return };
        let of_tasks = |found: &ReadAt<'_>| found.read.path.first().is_some_and(|root| &**root == "tasks");
        for found in expr.reads().filter(of_tasks) {
            reading::check(self.index, node, &found);
        }
    }
}
