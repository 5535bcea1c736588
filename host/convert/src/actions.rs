//! Graphs of jobs with steps, as GitHub Actions has them.

mod hints;
mod matrix;
mod needs;

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use crate::{
    ANY_FAILURE,
    argo::{Parameters, executor_of, of_workflow, parameters},
    expression::{hyphenated, template},
    fields::{Field, short},
    names::{self, Names, member, name, parameter},
    yaml::Output,
};

pub(crate) use hints::hint;
use needs::{Order, Status};

/// Bytes of environment variables that are repeated in steps.
const MAX_ENVIRONMENT: usize = 1 << 20;

/// Names that expressions of a place see.
#[derive(Clone, Default)]
struct Place {
    jobs: Rc<BTreeMap<String, String>>,
    steps: BTreeMap<String, String>,
    matrix: Rc<BTreeSet<String>>,
    /// References that the dag of a job takes as inputs; none outside of it.
    lifted: Option<BTreeMap<String, String>>,
}

impl Place {
    fn path(&mut self, path: &[String]) -> Option<String> {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        Some(match path.as_slice() {
            ["github", "workflow"] => "workflow.name".to_owned(),
            ["github", "run_id"] => "workflow.id".to_owned(),
            ["inputs", name] | ["github", "event", "inputs", name] => {
                format!("workflow.parameters.{}", parameter(name))
            }
            ["strategy", "job-index"] => "loop.index".to_owned(),
            ["matrix", name] if self.matrix.contains(&parameter(name)) => member("inputs", &parameter(name)),
            ["needs", job, "outputs", output] => {
                let (job, output) = (self.jobs.get(*job)?, parameter(output));
                let reference = member(&format!("tasks.{job}.outputs"), &output);
                let wish = format!("{job}-{output}");
                self.lift(wish, reference)
            }
            ["needs", job, "result"] => {
                let job = self.jobs.get(*job)?;
                let (wish, reference) = (format!("{job}-result"), result(job));
                self.lift(wish, reference)
            }
            ["steps", step, "outputs", output] => {
                member(&format!("tasks.{}.outputs", self.steps.get(*step)?), &parameter(output))
            }
            ["steps", step, "outcome"] => result(self.steps.get(*step)?),
            // No step runs behind a failed one.
            ["always()" | "success()"] => "true".to_owned(),
            ["cancelled()"] => "false".to_owned(),
            _ => return None,
        })
    }

    fn lift(&mut self, mut name: String, reference: String) -> String {
        let Some(lifted) = &mut self.lifted else { return reference };
        while self.matrix.contains(&name) || lifted.get(&name).is_some_and(|other| *other != reference) {
            name.push('_');
        }
        lifted.insert(name.clone(), reference);
        member("inputs", &name)
    }

    fn text(&mut self, field: &Field<'_>, text: &str) -> Output {
        let (text, failed) =
            template(text, "${{", &mut |inside| hyphenated(inside, &mut |path| self.path(path)));
        for placeholder in failed {
            let shown = short(&placeholder, 60);
            field.note(&format!(
                "`{shown}` has no counterpart; the placeholder stays as text, so write an expression of Phasm"
            ));
        }
        Output::Text(text)
    }

    fn value(&mut self, field: &Field<'_>) -> Output {
        field.value(&mut |field, text| self.text(field, text))
    }

    /// Converts the `if` of a step; one without a counterpart is reported, and false until it is written.
    fn condition(&mut self, field: &Field<'_>) -> Option<String> {
        let text = field.peek()?;
        let inside = needs::inside(&text);
        let Some(converted) = hyphenated(inside, &mut |path| self.path(path)) else {
            field.leave(needs::FALSE);
            return Some("false".to_owned());
        };
        field.used();
        let status = Status::of(inside);
        if status.is_behind_failures {
            field.note("no step runs behind a failed one: for work after a failure, write a hook `onFailure` or `onExit`, or a task behind one with `continueOn`");
        }
        (!status.is_always).then(|| needs::short(converted))
    }
}

/// Returns the result of a task in the words of the source.
fn result(task: &str) -> String {
    format!(
        "(tasks.{task}.phase == 'Succeeded' ? 'success' : tasks.{task}.phase == 'Skipped' ? 'skipped' : tasks.{task}.phase == 'Cancelled' ? 'cancelled' : 'failure')"
    )
}

/// Converts a graph of jobs.
pub(crate) fn convert(root: &Field<'_>) -> Output {
    let wish = root.get("name").and_then(|field| field.text()).unwrap_or_else(|| "converted".to_owned());
    let on = root.get("on");
    for event in on.iter().flat_map(|on| std::iter::once(on.clone()).chain(on.items())) {
        if event.peek().as_deref() == Some("workflow_dispatch") {
            event.used();
        }
    }
    let cron = on
        .as_ref()
        .and_then(|on| on.get("schedule"))
        .and_then(|all| all.items().into_iter().next()?.get("cron")?.text());
    let mut spec = Output::from([("entrypoint", "main".into())]);
    let dispatch = on.as_ref().and_then(|on| on.get("workflow_dispatch"));
    if let Some(dispatch) = dispatch.filter(|dispatch| dispatch.members().is_empty()) {
        dispatch.used();
    }
    let inputs = on.and_then(|on| on.get("workflow_dispatch")?.get("inputs"));
    spec.put(
        "parameters",
        of_workflow(
            inputs.iter().flat_map(Field::members).map(|(name, field)| input(name, &field)).collect(),
        ),
    );
    spec.put("templates", Output::List(jobs(root)));
    let kind = if cron.is_some() { "CronWorkflow" } else { "Workflow" };
    let mut out = Output::from([
        ("apiVersion", "phasm/v1".into()),
        ("kind", kind.into()),
        ("metadata", Output::from([("name", name(&wish).into())])),
    ]);
    if let Some(schedule) = cron {
        let mut schedule = Output::from([("schedule", schedule.into())]);
        if let Some(concurrency) = root.get("concurrency")
            && concurrency.get("cancel-in-progress").and_then(|field| field.bool()) == Some(true)
        {
            schedule.put("concurrencyPolicy", "Replace");
        }
        schedule.put("workflowSpec", spec);
        spec = schedule;
    }
    out.put("spec", spec);
    out
}

fn input(name: &str, field: &Field<'_>) -> (String, Vec<(&'static str, Output)>) {
    if field.members().is_empty() {
        field.used();
    }
    let kind = field.get("type").and_then(|kind| kind.text());
    let kind = match kind.as_deref() {
        Some("boolean") => "boolean",
        Some("number") => "number",
        _ => "string",
    };
    let mut members = vec![("type", kind.into())];
    let mut place = Place::default();
    if let Some(options) = field.get("options") {
        let options =
            options.items().iter().filter_map(|option| option.text().map(Output::Text)).collect::<Vec<_>>();
        if !options.is_empty() {
            members.push(("enum", Output::List(options)));
        }
    }
    if let Some(description) = field.get("description").and_then(|field| field.text()) {
        members.push(("description", description.into()));
    }
    let is_required = field.get("required").and_then(|field| field.bool()).unwrap_or_default();
    if let Some(default) = field.get("default") {
        let default = if kind == "string" {
            default.text().map_or_else(|| place.value(&default), Output::Text)
        } else {
            place.value(&default)
        };
        members.push(("default", default));
    } else if !is_required {
        members.push(("default", if kind == "string" { "".into() } else { Output::Null }));
    }
    (parameter(name), members)
}

/// Returns the templates: the dag of jobs, and that of each job.
fn jobs(root: &Field<'_>) -> Vec<Output> {
    let jobs = root.get("jobs");
    let mut names = Names::default();
    names.fresh("main");
    let mut known = BTreeMap::new();
    let mut list = Vec::new();
    for (id, job) in jobs.iter().flat_map(Field::members) {
        if known.contains_key(id) {
            continue;
        }
        known.insert(id.to_owned(), names.fresh(id));
        list.push((id, job));
    }
    let known = Rc::new(known);
    let order = Order::of(&list, &known);
    let mut budget = MAX_ENVIRONMENT;
    let outer = environment(root, &mut Place::default());
    let mut templates = Vec::new();
    let mut tasks = Vec::new();
    for ((id, job), needs) in list.iter().zip(&order.jobs) {
        let Some(name) = known.get(*id) else { continue };
        let place = Place { jobs: Rc::clone(&known), ..Place::default() };
        let mut job = Job {
            names: &mut names,
            templates: &mut templates,
            budget: &mut budget,
            outer: &outer,
            field: job,
        };
        tasks.push(job.convert(name, needs, place));
    }
    if tasks.is_empty() {
        root.note("there are no jobs; a dag has at least one task");
    }
    let mut main = Output::from([("name", "main".into())]);
    if tasks.len() > 1 {
        // Jobs that need none that failed go on.
        main.put("failFast", false);
    }
    if let Some(failed) = order.failed {
        main.put("phaseConditions", Output::from([("failed", failed.into())]));
    }
    main.put("tasks", Output::List(tasks));
    let mut all = vec![Output::from([("dag", main)])];
    all.extend(templates);
    all
}

fn environment(field: &Field<'_>, place: &mut Place) -> Vec<(String, Output)> {
    let mut found: Vec<(String, Output)> = Vec::new();
    let mut seen = BTreeSet::new();
    for (name, value) in field.get("env").iter().flat_map(Field::members) {
        if seen.insert(name)
            && let Some(text) = value.text()
        {
            found.push((name.to_owned(), place.text(&value, &text)));
        }
    }
    found
}

/// A job, and the state of the conversion.
struct Job<'j, 't> {
    names: &'j mut Names,
    templates: &'j mut Vec<Output>,
    budget: &'j mut usize,
    outer: &'j [(String, Output)],
    field: &'j Field<'t>,
}

impl Job<'_, '_> {
    /// Makes the templates of the job, and returns the task that calls them.
    fn convert(&mut self, name: &str, needs: &needs::Job, mut place: Place) -> Output {
        let job = self.field;
        let strategy = job.get("strategy");
        place.lifted = Some(BTreeMap::new());
        let items = strategy.as_ref().and_then(|strategy| Self::items(strategy, &mut place));
        let callee = if items.is_some() { self.names.fresh(&format!("{name}-job")) } else { name.to_owned() };
        self.steps(&callee, &mut place);
        let lifted = place.lifted.take().unwrap_or_default();
        if let (Some(items), Some(strategy)) = (items, &strategy) {
            self.templates.push(Output::from([("loop", repeat(strategy, name, &callee, items, &lifted))]));
        }
        let mut task = Output::from([("name", name.into()), ("template", name.into())]);
        task.put("dependencies", Output::names(needs.after.iter().cloned()));
        task.put("when", needs.when.clone().map_or(Output::Null, Output::from));
        let pass =
            |(name, reference)| (name, vec![("value", Output::Text(format!("{{{{ {reference} }}}}")))]);
        task.put("arguments", parameters(lifted.into_iter().map(pass).collect()));
        put_minutes(job, "timeout", &mut task);
        let is_excused = is_excused(job);
        if is_excused || needs.is_tolerated {
            task.put("continueOn", all_ends());
        }
        task
    }

    /// Returns the items of a matrix.
    fn items(strategy: &Field<'_>, place: &mut Place) -> Option<Vec<Output>> {
        let matrix = strategy.get("matrix")?;
        let Some(items) = matrix::combinations(&matrix, &mut |field, text| place.text(field, text)) else {
            matrix.leave("write `items` or `itemsFrom` on the loop: it has a list of objects, at most 256 are converted");
            return Some(Vec::new());
        };
        let mut keys = BTreeSet::new();
        for item in &items {
            if let Output::Map(members) = item {
                keys.extend(members.iter().map(|(name, _)| name.clone()));
            }
        }
        place.matrix = Rc::new(keys);
        Some(items)
    }

    /// Makes the dag of the job.
    fn steps(&mut self, name: &str, place: &mut Place) {
        let job = self.field;
        let listed = job.get("steps").map(|steps| steps.items()).unwrap_or_default();
        let mut names = Names::default();
        let mut own = self.outer.to_vec();
        for (name, value) in environment(job, place) {
            own.retain(|(other, _)| *other != name);
            own.push((name, value));
        }
        let size: usize = own
            .iter()
            .map(|(name, value)| name.len() + if let Output::Text(text) = value { text.len() } else { 0 })
            .sum();
        let mut tasks: Vec<Output> = Vec::new();
        let mut before = None;
        for step in &listed {
            let id = step.get("id").or_else(|| step.get("name")).and_then(|field| field.text());
            let wish = id.clone().or_else(|| step.get("uses")?.peek()).unwrap_or_else(|| "step".to_owned());
            let task = names.fresh(&wish);
            let base = match self.budget.checked_sub(size) {
                Some(left) => {
                    *self.budget = left;
                    own.as_slice()
                }
                None => {
                    step.note("`env` of the job is too large to be repeated in each step; write inputs");
                    &[]
                }
            };
            tasks.push(convert_step(step, &task, before.take(), base, place));
            if let Some(id) = id {
                place.steps.insert(id, task.clone());
            }
            before = Some(task);
        }
        if tasks.is_empty() {
            tasks.push(reused(job, name, place));
        }
        let mut outputs: Parameters = Vec::new();
        for (output, value) in job.get("outputs").iter().flat_map(Field::members) {
            let output = parameter(output);
            if outputs.iter().all(|(other, _)| *other != output)
                && let Some(text) = value.text()
            {
                outputs.push((output, vec![("value", place.text(&value, &text))]));
            }
        }
        let mut inputs: Parameters =
            place.matrix.iter().map(|key| (key.clone(), vec![("default", "".into())])).collect();
        inputs.extend(place.lifted.iter().flat_map(BTreeMap::keys).map(|name| (name.clone(), Vec::new())));
        let mut dag = Output::from([("name", name.into())]);
        dag.put("inputs", parameters(inputs));
        dag.put("outputs", crate::argo::outputs(outputs));
        dag.put("tasks", Output::List(tasks));
        self.templates.push(Output::from([("dag", dag)]));
    }
}

/// Returns the loop over the items of a matrix.
fn repeat(
    strategy: &Field<'_>,
    name: &str,
    callee: &str,
    items: Vec<Output>,
    lifted: &BTreeMap<String, String>,
) -> Output {
    let mut out = Output::from([("name", name.into())]);
    out.put("inputs", parameters(lifted.keys().map(|name| (name.clone(), Vec::new())).collect()));
    if let Output::Map(members) = &mut out {
        members.push(("items".to_owned(), Output::List(items)));
    }
    out.put("body", callee);
    let pass = |name: &String| {
        (name.clone(), vec![("value", format!("{{{{ {} }}}}", member("inputs", name)).into())])
    };
    out.put("arguments", parameters(lifted.keys().map(pass).collect()));
    if let Some(most) = strategy.get("max-parallel")
        && most.peek().and_then(|text| text.parse::<i64>().ok()).is_some_and(|most| most >= 1)
    {
        out.put("concurrency", most.int().unwrap_or_default());
    }
    if let Some(false) = strategy.get("fail-fast").and_then(|field| field.bool()) {
        out.put("continueOn", all_ends());
        out.put("phaseConditions", Output::from([("failed", ANY_FAILURE.into())]));
    }
    out
}

fn all_ends() -> Output {
    Output::from([("failed", true.into()), ("error", true.into()), ("timeout", true.into())])
}

fn convert_step(
    step: &Field<'_>,
    task: &str,
    before: Option<String>,
    own: &[(String, Output)],
    place: &mut Place,
) -> Output {
    let mut config = Output::Map(Vec::new());
    let executor = if let Some(run) = step.get("run") {
        run.note("write the executor `run-script`, which runs such a script, with `phasm plugin new run-script`; or use a shipped executor");
        config.put("run", place.value(&run));
        "run-script".to_owned()
    } else {
        let uses = step.get("uses");
        let wish = uses.as_ref().and_then(|uses| uses.text());
        let executor =
            names::executor(wish.as_deref().and_then(|wish| wish.split('@').next()).unwrap_or(task));
        let at = uses.as_ref().unwrap_or(step);
        at.note(&format!("write the executor `{executor}`, which does the work of this action, with `phasm plugin new {executor}`"));
        if let Some(wish) = wish {
            config.put("uses", wish);
        }
        executor
    };
    for key in ["with", "shell", "working-directory"] {
        if let Some(field) = step.get(key) {
            config.put(key, place.value(&field));
        }
    }
    let mut env = own.to_vec();
    for (name, value) in environment(step, place) {
        env.retain(|(other, _)| *other != name);
        env.push((name, value));
    }
    config.put("env", Output::Map(env));
    let mut body = executor_of(&executor);
    body.put("config", config);
    let mut out = Output::from([("name", task.into()), ("executor", body)]);
    out.put("dependencies", Output::names(before));
    if let Some(when) = step.get("if").and_then(|field| place.condition(&field)) {
        out.put("when", when);
    }
    put_minutes(step, "maxRuntime", &mut out);
    if is_excused(step) {
        out.put("continueOn", all_ends());
    }
    out
}

/// Returns the only task of a job that has no steps.
fn reused(job: &Field<'_>, task: &str, place: &mut Place) -> Output {
    let uses = job.get("uses");
    let wish = uses.as_ref().and_then(|uses| uses.text());
    let executor = names::executor(wish.as_deref().unwrap_or(task));
    let at = uses.as_ref().unwrap_or(job);
    at.note(&format!("convert the workflow that it calls, and put it into this file as a template; until then the executor `{executor}` stands here"));
    let mut body = executor_of(&executor);
    if let Some(with) = job.get("with") {
        body.put("config", Output::from([("with", place.value(&with))]));
    }
    Output::from([("name", name(task).into()), ("executor", body)])
}

fn put_minutes(field: &Field<'_>, key: &str, out: &mut Output) {
    if let Some(minutes) = field.get("timeout-minutes")
        && let Some(number) = minutes.peek().and_then(|text| text.parse::<i64>().ok())
        && (1..=10_000_000).contains(&number)
    {
        minutes.used();
        out.put(key, format!("{number}m"));
    }
}

/// Returns whether a failure is no failure of the whole.
fn is_excused(field: &Field<'_>) -> bool {
    field.get("continue-on-error").and_then(|field| field.bool()) == Some(true)
}
