//! Dags, steps and the calls in them.

use std::{collections::BTreeMap, rc::Rc};

use crate::{
    expression::{condition, expression},
    fields::Field,
    names::{self, Names, member, parameter},
    yaml::Output,
};

use super::{
    Converter, Parameters, Place, Task,
    depends::{self, Dependencies},
    executor_of,
    items::items,
    leaves, parameters,
    rule::{End, Ends},
    survey::Kind,
    timing,
};

impl Converter {
    /// Converts a template.
    pub(super) fn template(&mut self, field: &Field<'_>) {
        let Some(written) = field.get("name") else { return };
        let Some(original) = written.peek() else { return };
        let Some(signature) = self.survey.get(&original).cloned() else { return };
        // A second one of the name stays unused.
        if !self.done.insert(original.clone()) {
            return;
        }
        written.used();
        if signature.kind == Kind::Graph {
            self.graph(field, &original, &signature.name);
        } else {
            let body = leaves::leaf(field, &signature.name, &original, self.survey.reads_results());
            self.add("task", body);
        }
    }

    fn graph(&mut self, field: &Field<'_>, original: &str, name: &str) {
        let dag = field.get("dag");
        let tasks = match &dag {
            Some(dag) => {
                dag.get("tasks").iter().flat_map(Field::items).map(|task| (task, Rc::default())).collect()
            }
            None => steps(field),
        };
        let place = self.place(&tasks.iter().map(|(task, _)| task).collect::<Vec<_>>());
        let mut out = Output::from([("name", name.into())]);
        let inputs = field.get("inputs").and_then(|inputs| inputs.get("parameters"));
        out.put("inputs", parameters(leaves::declared(inputs.as_ref(), false)));
        let outputs = field.get("outputs").and_then(|outputs| outputs.get("parameters"));
        let mut outer = Place { tasks: Rc::clone(&place.tasks), ..Place::default() };
        out.put("outputs", super::outputs(graph_outputs(outputs.as_ref(), &mut outer)));
        if let Some(fail_fast) =
            dag.as_ref().and_then(|dag| dag.get("failFast")).and_then(|field| field.bool())
            && !fail_fast
        {
            out.put("failFast", fail_fast);
        }
        let (concurrency, parallelism) = self.parallelism(field, &tasks);
        out.put("parallelism", parallelism.unwrap_or(Output::Null));
        if let Some(deadline) = field.get("activeDeadlineSeconds").and_then(|field| timing::seconds(&field)) {
            out.put("timeout", deadline);
        }
        let order = depends::read(&tasks, &place.tasks);
        if let Some(failed) = order.failed {
            out.put("phaseConditions", Output::from([("failed", failed.into())]));
        }
        let mut list = Vec::new();
        for ((task, _), needs) in tasks.iter().zip(order.tasks) {
            let Some(known) = own_task(task, &place.tasks) else { continue };
            let caller = Caller { original, name, concurrency: concurrency.as_ref() };
            list.push(self.call(task, &caller, &known, needs, &place));
        }
        if list.is_empty() {
            field.note("there are no tasks; a dag has at least one");
        }
        out.put("tasks", Output::List(list));
        self.add("dag", out);
    }

    /// Returns the limits of the only loop, and of the whole dag.
    fn parallelism(
        &self,
        field: &Field<'_>,
        tasks: &[(Field<'_>, Rc<[String]>)],
    ) -> (Option<Output>, Option<Output>) {
        let Some(limit) = field.get("parallelism") else { return (None, None) };
        let Some(number) = timing::as_count(&limit) else { return (None, None) };
        let is_loop = |task: &Field<'_>| {
            ["withItems", "withParam", "withSequence"].iter().any(|key| task.get(key).is_some())
        };
        let is_leaf = |task: &Field<'_>| {
            let callee = task.get("template").and_then(|template| template.peek());
            !matches!(
                callee.and_then(|callee| Some(self.survey.get(&callee)?.kind.clone())),
                Some(Kind::Graph)
            )
        };
        match tasks {
            [(task, _)] if is_loop(task) => {
                limit.used();
                (Some(number), None)
            }
            tasks if tasks.iter().all(|(task, _)| is_leaf(task)) => {
                limit.used();
                (None, Some(number))
            }
            _ => (None, None),
        }
    }

    /// Returns the names that expressions of a dag see.
    fn place(&self, tasks: &[&Field<'_>]) -> Place {
        let mut names = Names::default();
        let mut known = BTreeMap::new();
        for task in tasks {
            let Some(original) = task.get("name").and_then(|name| name.peek()) else { continue };
            if known.contains_key(&original) {
                continue;
            }
            let callee = task.get("template").and_then(|template| template.peek());
            let result = match callee.and_then(|callee| Some(self.survey.get(&callee)?.kind.clone())) {
                Some(Kind::Leaf { result }) => result,
                _ => "result",
            };
            let name = names.fresh(&original);
            known.insert(original, Task { name, result });
        }
        Place { tasks: Rc::new(known), ..Place::default() }
    }

    fn call(
        &mut self,
        field: &Field<'_>,
        caller: &Caller<'_>,
        task: &Task,
        needs: Dependencies,
        place: &Place,
    ) -> Output {
        field.get("name").inspect(Field::used);
        let callee = self.callee(field, caller);
        let mut own = Place { tasks: Rc::clone(&place.tasks), ..Place::default() };
        let mut out = Output::from([("name", task.name.clone().into())]);
        let when = field.get("when");
        let looped = ["withItems", "withParam", "withSequence"]
            .into_iter()
            .find_map(|key| Some((key, field.get(key)?)));
        let mut conditions: Vec<String> = needs.condition.into_iter().collect();
        if let Some((key, items)) = looped {
            let per_item = when.as_ref().filter(|when| when.peek().is_some_and(|text| text.contains("item")));
            if per_item.is_none() {
                conditions.extend(when.as_ref().and_then(|when| converted(when, &mut own)));
            }
            let mut inner = Place { lifted: Some(BTreeMap::new()), ..own };
            let body = Body { callee, key, items: &items, when: per_item };
            let name = self.repeat(field, caller, task, &body, &mut inner);
            out.put("template", name);
            put_order(&mut out, needs.after, &conditions);
            let lifted = inner.lifted.unwrap_or_default();
            let pass =
                |(name, reference)| (name, vec![("value", Output::Text(format!("{{{{ {reference} }}}}")))]);
            out.put("arguments", parameters(lifted.into_iter().map(pass).collect()));
        } else {
            conditions.extend(when.as_ref().and_then(|when| converted(when, &mut own)));
            let arguments = parameters(Self::call_arguments(field, &callee, &mut own));
            match &callee {
                Callee::Template { name, .. } => {
                    out.put("template", name.clone());
                    self.calls(caller.name, name);
                }
                Callee::Placeholder(name) => {
                    out.put("executor", executor_of(name));
                    self.calls(caller.name, "");
                }
            }
            put_order(&mut out, needs.after, &conditions);
            let key = if matches!(callee, Callee::Template { .. }) { "arguments" } else { "inputs" };
            out.put(key, arguments);
        }
        out.put("continueOn", tolerance(field, needs.tolerated));
        let mut hooks = Output::Map(Vec::new());
        if let Some(exit) = field.get("onExit") {
            hooks.put("onExit", self.hook(&exit, None));
        } else if let Some(exit) = field.get("hooks").and_then(|hooks| hooks.get("exit")) {
            hooks.put("onExit", self.hook_object(&exit));
        }
        out.put("hooks", hooks);
        out
    }

    /// Returns the template that a task calls.
    fn callee(&self, field: &Field<'_>, caller: &Caller<'_>) -> Callee {
        if let Some(reference) = field.get("templateRef") {
            let part = |key| reference.get(key).and_then(|field: Field<'_>| field.text()).unwrap_or_default();
            let executor = names::executor(&format!("{}-{}", part("name"), part("template")));
            reference.note(&format!("the template is in another file: convert that, put it into this one and call it; until then the executor `{executor}` stands here"));
            return Callee::Placeholder(executor);
        }
        let Some(template) = field.get("template") else {
            let executor =
                names::executor(&field.get("name").and_then(|name| name.peek()).unwrap_or_default());
            field.note(&format!("it calls no template of this file; the executor `{executor}` stands here"));
            return Callee::Placeholder(executor);
        };
        let callee = template.peek().unwrap_or_default();
        if self.survey.is_recursive(caller.original, &callee) {
            let executor = names::executor(&format!("again-{callee}"));
            template.used();
            template.note(&format!("a template may not reach itself: write a `loop` with `repeatCondition`; until then the executor `{executor}` stands here"));
            return Callee::Placeholder(executor);
        }
        match self.survey.get(&callee) {
            Some(signature) => {
                template.used();
                Callee::Template {
                    name: signature.name.clone(),
                    is_approval: signature.kind == Kind::Approval,
                }
            }
            None => {
                let executor = names::executor(&callee);
                template.used();
                template.note(&format!("there is no such template; the executor `{executor}` stands here"));
                Callee::Placeholder(executor)
            }
        }
    }

    /// Converts arguments, except for an approval, which takes none.
    fn call_arguments(field: &Field<'_>, callee: &Callee, place: &mut Place) -> Parameters {
        match callee {
            Callee::Template { is_approval: true, .. } => {
                if let Some(arguments) = field.get("arguments") {
                    arguments.leave(
                        "inputs of an approval are its response: write them into its `message` or `details`",
                    );
                }
                Vec::new()
            }
            Callee::Template { .. } | Callee::Placeholder(_) => Self::arguments(field, place),
        }
    }

    /// Converts the arguments of a call.
    pub(super) fn arguments(field: &Field<'_>, place: &mut Place) -> Parameters {
        let mut list: Parameters = Vec::new();
        let given = field.get("arguments").and_then(|arguments| arguments.get("parameters"));
        for one in given.iter().flat_map(Field::items) {
            let Some(written) = one.get("name") else { continue };
            let Some(original) = written.peek() else { continue };
            let name = parameter(&original);
            if list.iter().any(|(other, _)| *other == name) {
                continue;
            }
            let from = one.get("valueFrom");
            let expressed = from.as_ref().and_then(|from| from.get("expression"));
            let value = if let Some(value) = one.get("value") {
                Some(place.parameter(&value))
            } else if let Some(expressed) = expressed
                && let Some(text) = expressed.peek()
                && let Some(converted) = expression(&text, &mut |path| place.path(path))
            {
                expressed.used();
                Some(Output::Text(format!("{{{{ {converted} }}}}")))
            } else {
                None
            };
            if let Some(value) = value {
                written.used();
                list.push((name, vec![("value", value)]));
            }
        }
        list
    }

    /// Makes the loop of a task, and returns its name.
    fn repeat(
        &mut self,
        field: &Field<'_>,
        caller: &Caller<'_>,
        task: &Task,
        body: &Body<'_, '_>,
        place: &mut Place,
    ) -> String {
        let looped = self.names.fresh(&format!("{}-each", task.name));
        let callee = match &body.callee {
            Callee::Template { name, .. } => name.clone(),
            Callee::Placeholder(executor) => {
                let name = self.names.fresh(executor);
                self.add(
                    "task",
                    Output::from([("name", name.clone().into()), ("executor", executor_of(executor))]),
                );
                name
            }
        };
        let arguments = Self::call_arguments(field, &body.callee, place);
        let when = body.when.and_then(|when| converted(when, place));
        let (key, items) = items(body.key, body.items, place);
        self.calls(caller.name, &looped);
        let lifted: Vec<String> = place.lifted.iter().flat_map(BTreeMap::keys).cloned().collect();
        let mut out = Output::from([("name", looped.clone().into())]);
        out.put("inputs", parameters(lifted.iter().map(|name| (name.clone(), Vec::new())).collect()));
        match key {
            // An empty list is a list.
            "items" => out = with(out, key, items),
            _ => out.put(key, items),
        }
        if let Some(concurrency) = caller.concurrency {
            out.put("concurrency", concurrency.clone());
        }
        if let Some(when) = when {
            // The condition of an item is that of the only task of a dag.
            let inner = self.names.fresh(&format!("{}-item", task.name));
            let pass = |name: &String| {
                (name.clone(), vec![("value", format!("{{{{ {} }}}}", member("inputs", name)).into())])
            };
            out.put("body", inner.clone());
            out.put("arguments", parameters(lifted.iter().map(pass).collect()));
            let mut call = Output::from([
                ("name", task.name.clone().into()),
                ("template", callee.clone().into()),
                ("when", when.into()),
            ]);
            call.put("arguments", parameters(arguments));
            let mut dag = Output::from([("name", inner.clone().into())]);
            dag.put("inputs", parameters(lifted.iter().map(|name| (name.clone(), Vec::new())).collect()));
            dag.put("tasks", Output::List(vec![call]));
            self.calls(&looped, &inner);
            self.calls(&inner, &callee);
            self.add("dag", dag);
        } else {
            out.put("body", callee.clone());
            out.put("arguments", parameters(arguments));
            self.calls(&looped, &callee);
        }
        out.put("aggregate", Output::from([("strategy", "list".into())]));
        self.add("loop", out);
        looped
    }
}

/// A template with tasks.
struct Caller<'c> {
    original: &'c str,
    name: &'c str,
    /// Limit of its only loop.
    concurrency: Option<&'c Output>,
}

/// A template of this file, or an executor that the user writes.
enum Callee {
    Template { name: String, is_approval: bool },
    Placeholder(String),
}

/// Call that a loop repeats, and its items.
struct Body<'b, 't> {
    callee: Callee,
    key: &'static str,
    items: &'b Field<'t>,
    when: Option<&'b Field<'t>>,
}

fn with(mut out: Output, key: &str, value: Output) -> Output {
    if let Output::Map(members) = &mut out {
        members.push((key.to_owned(), value));
    }
    out
}

fn put_order(out: &mut Output, after: Vec<String>, conditions: &[String]) {
    out.put("dependencies", Output::names(after));
    match conditions {
        [] => {}
        [one] => out.put("when", one.clone()),
        all => out.put("when", all.iter().map(|one| format!("({one})")).collect::<Vec<_>>().join(" && ")),
    }
}

/// Returns the steps with the names of those in the group before.
fn steps<'t>(field: &Field<'t>) -> Vec<(Field<'t>, Rc<[String]>)> {
    let mut all = Vec::new();
    let mut before: Rc<[String]> = Rc::default();
    for group in field.get("steps").iter().flat_map(Field::items) {
        let steps = group.items();
        let names: Vec<String> = steps.iter().filter_map(|step| step.get("name")?.peek()).collect();
        if steps.is_empty() {
            group.used();
        }
        all.extend(steps.into_iter().map(|step| (step, Rc::clone(&before))));
        if !names.is_empty() {
            before = names.into();
        }
    }
    all
}

/// Returns the task that `field` is; none for a second one of a name.
fn own_task(field: &Field<'_>, tasks: &BTreeMap<String, Task>) -> Option<Task> {
    tasks.get(&field.get("name")?.peek()?).cloned()
}

/// Converts a condition; one without a counterpart is reported, and false until it is written.
fn converted(when: &Field<'_>, place: &mut Place) -> Option<String> {
    let text = when.peek()?;
    let converted = condition(&text, &mut |path| place.path(path));
    match converted {
        Some(_) => when.used(),
        None => when
            .leave("write `when`, an expression of Phasm; until then it is false, and the task does not run"),
    }
    Some(converted.unwrap_or_else(|| "false".to_owned()))
}

fn tolerance(field: &Field<'_>, tolerated: Ends) -> Output {
    let given = field.get("continueOn");
    let on = |key| {
        given.as_ref().and_then(|given| given.get(key)).and_then(|field| field.bool()).unwrap_or_default()
    };
    let (failed, error) =
        (on("failed") || tolerated.has(End::Failed), on("error") || tolerated.has(End::Error));
    let mut out = Output::Map(Vec::new());
    for (key, value) in [("failed", failed), ("error", error), ("timeout", failed)] {
        if value {
            out.put(key, value);
        }
    }
    out
}

/// Converts outputs of a dag, which refer to its tasks.
fn graph_outputs(outputs: Option<&Field<'_>>, place: &mut Place) -> Parameters {
    let mut list: Parameters = Vec::new();
    for (name, one) in leaves::named(outputs) {
        let mut members = Vec::new();
        if let Some(from) = one.get("valueFrom") {
            for key in ["parameter", "expression"] {
                let Some(field) = from.get(key) else { continue };
                let Some(text) = field.peek() else { continue };
                let converted = match key {
                    "parameter" => condition(&text, &mut |path| place.path(path)),
                    _ => expression(&text, &mut |path| place.path(path)),
                };
                if let Some(converted) = converted {
                    field.used();
                    members.push(("valueFrom", Output::from([("expression", converted.into())])));
                    break;
                }
            }
            if let Some(default) = from.get("default") {
                members.push(("default", place.parameter(&default)));
            }
        } else if let Some(value) = one.get("value") {
            members.push(("value", place.parameter(&value)));
        }
        list.push((name, members));
    }
    list
}
