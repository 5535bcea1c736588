//! What expressions see (R-E2): a lazy view over a run, nothing copied.

use std::sync::Arc;

use super::Run;
use crate::{
    event::{Binding, Facts, Outputs},
    expr::Env,
    outcome::Output,
    phase::Phase,
    plan::{Level, NodeIndex, Plan, TemplateKind},
    task::TaskRun,
    value::{Map, Value},
};

/// The names one expression of one task run sees.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) run: &'a Run,
    pub(super) task: &'a TaskRun,
    /// Where the expression was written.
    pub(super) level: Level,
    /// The task's own inputs while they are being bound; else those of the task run.
    pub(super) bound: Option<&'a [Binding]>,
    /// The result that is being judged, shown as the task itself.
    pub(super) result: Option<&'a Judged>,
}

/// A finished attempt, or a container about to end, before its phase is written.
#[derive(Clone, Debug)]
pub(super) struct Judged {
    pub(super) phase: Phase,
    pub(super) code: Option<i32>,
    pub(super) message: Arc<str>,
    pub(super) outputs: Outputs,
    pub(super) retries: u32,
}

type Path<'p> = &'p [Arc<str>];

impl<'a> View<'a> {
    pub(super) fn new(run: &'a Run, task: &'a TaskRun, level: Level) -> Self {
        Self { run, task, level, bound: None, result: None }
    }

    fn own_inputs(&self) -> &[Binding] {
        self.bound.unwrap_or(&self.task.inputs)
    }

    fn outer_inputs(&self) -> &[Binding] {
        self.task.parent.and_then(|id| self.run.task(id)).map_or(&[], |container| &container.inputs)
    }

    fn inputs(&self, path: Path<'_>) -> Value {
        let (own, outer): (&[Binding], &[Binding]) = match self.level {
            Level::Template => (self.own_inputs(), &[]),
            Level::Inline => (self.own_inputs(), self.outer_inputs()),
            Level::Node => (&[], self.outer_inputs()),
        };
        let Some((key, rest)) = path.split_first() else { return Value::Null };
        if key.as_ref() != "parameters" {
            return Value::Null;
        }
        let Some((name, rest)) = rest.split_first() else {
            let all = outer.iter().chain(own).map(|b| (b.name.clone(), b.bound.visible()));
            return all.collect::<Map>().into();
        };
        let found = [own, outer].into_iter().find_map(|list| list.iter().rfind(|b| b.name == *name));
        found.map_or(Value::Null, |binding| walk(&binding.bound.visible(), rest))
    }

    fn tasks(&self, path: Path<'_>) -> Value {
        let Some((name, rest)) = path.split_first() else { return Value::Null };
        if self.judges_container()
            && let Some(child) = self.child(self.task, name)
        {
            return task_member(child, rest);
        }
        if self.is_self(name) {
            return match self.result {
                Some(result) => result_member(result, rest),
                None => task_member(self.task, rest),
            };
        }
        let container = self.task.parent.and_then(|id| self.run.task(id));
        container.and_then(|c| self.child(c, name)).map_or(Value::Null, |sibling| task_member(sibling, rest))
    }

    /// A container's conditions and outputs see its children.
    fn judges_container(&self) -> bool {
        self.task.scope.is_some() && (self.result.is_some() || self.level == Level::Template)
    }

    /// Self is the node's name; in a template's own expressions also the template's (R-C2).
    fn is_self(&self, name: &Arc<str>) -> bool {
        let node = self.run.node(self.task);
        node.name == *name
            || (self.level == Level::Template
                && node
                    .template
                    .and_then(|t| self.run.plan.templates.get(t))
                    .is_some_and(|t| t.name == *name))
    }

    fn child(&self, container: &'a TaskRun, name: &Arc<str>) -> Option<&'a TaskRun> {
        let scope = container.scope.as_ref()?;
        let index: NodeIndex = match &self.run.plan.templates.get(scope.template)?.kind {
            TemplateKind::Dag(dag) => *dag.index.get(name)?,
            TemplateKind::Task | TemplateKind::Loop(_) | TemplateKind::Pipeline(_) => return None,
        };
        self.run.task(*scope.children.get(index)?)
    }

    fn children(&self, path: Path<'_>) -> Value {
        let (Some(scope), Some((name, []))) = (&self.task.scope, path.split_first()) else {
            return Value::Null;
        };
        match name.as_ref() {
            "total" => i64::try_from(scope.children.len()).unwrap_or(i64::MAX).into(),
            name => scope.tally.get(name).map_or(Value::Null, |n| i64::from(n).into()),
        }
    }
}

/// What `spec.arguments` see before the run exists: workflow, system, vars.
#[derive(Clone, Copy, Debug)]
pub struct SubmitView<'a> {
    /// The plan to be run.
    pub plan: &'a Plan,
    /// The id the run will have.
    pub run_id: &'a Arc<str>,
    /// What the host tells.
    pub facts: &'a Facts,
}

impl Env for SubmitView<'_> {
    fn get(&self, path: Path<'_>) -> Value {
        let Some((root, rest)) = path.split_first() else { return Value::Null };
        match root.as_ref() {
            "workflow" => workflow_member(self.plan, self.run_id, Phase::Created, &Arc::default(), rest),
            "system" => system_member(self.facts, rest),
            "vars" => walk(&self.facts.vars, rest),
            _ => Value::Null,
        }
    }
}

impl Env for View<'_> {
    fn get(&self, path: Path<'_>) -> Value {
        let Some((root, rest)) = path.split_first() else { return Value::Null };
        match root.as_ref() {
            "workflow" => {
                workflow_member(&self.run.plan, &self.run.id, self.run.phase, &self.run.parameters, rest)
            }
            "inputs" => self.inputs(rest),
            "tasks" => self.tasks(rest),
            "children" => self.children(rest),
            "system" => system_member(&self.run.facts, rest),
            "vars" => walk(&self.run.facts.vars, rest),
            "phase" | "code" | "msg" | "outputs" | "retries" => {
                self.result.map_or(Value::Null, |result| result_member(result, path))
            }
            _ => Value::Null,
        }
    }
}

fn workflow_member(plan: &Plan, id: &Arc<str>, phase: Phase, parameters: &Arc<Map>, path: Path<'_>) -> Value {
    let Some((first, rest)) = path.split_first() else { return Value::Null };
    match (first.as_ref(), rest) {
        ("name", []) => plan.name.clone().into(),
        ("namespace", []) => plan.namespace.clone().into(),
        ("id", []) => id.clone().into(),
        ("phase", []) => phase.as_str().into(),
        ("parameters", rest) => member_of(parameters, rest),
        ("arguments", [key, rest @ ..]) if key.as_ref() == "parameters" => member_of(parameters, rest),
        ("labels", [label, rest @ ..]) => {
            plan.labels.get(label).map_or(Value::Null, |value| walk(value, rest))
        }
        _ => Value::Null,
    }
}

fn system_member(facts: &Facts, path: Path<'_>) -> Value {
    match path {
        [key] if key.as_ref() == "os" => facts.os.clone().into(),
        [key] if key.as_ref() == "arch" => facts.arch.clone().into(),
        _ => Value::Null,
    }
}

fn walk(value: &Value, path: Path<'_>) -> Value {
    path.iter().try_fold(value, |value, key| value.member(key)).cloned().unwrap_or_default()
}

fn member_of(map: &Arc<Map>, path: Path<'_>) -> Value {
    match path.split_first() {
        None => Value::Object(Arc::clone(map)),
        Some((key, rest)) => map.get(key).map_or(Value::Null, |value| walk(value, rest)),
    }
}

/// `tasks.<name>.…`: phase, code, msg, retries, outputs.parameters.
fn result_member(result: &Judged, path: Path<'_>) -> Value {
    let Some((key, rest)) = path.split_first() else {
        let keys = ["phase", "code", "msg", "retries", "outputs"].map(Arc::<str>::from);
        return keys
            .iter()
            .map(|key| (key.clone(), result_member(result, std::slice::from_ref(key))))
            .collect::<Map>()
            .into();
    };
    let value = match key.as_ref() {
        "phase" => result.phase.as_str().into(),
        "code" => result.code.map_or(Value::Null, |code| i64::from(code).into()),
        "msg" => result.message.clone().into(),
        "retries" => i64::from(result.retries).into(),
        "outputs" => return outputs_member(&result.outputs, rest),
        _ => return Value::Null,
    };
    walk(&value, rest)
}

fn task_member(task: &TaskRun, path: Path<'_>) -> Value {
    let result = Judged {
        phase: task.phase,
        code: task.code,
        message: task.message.clone(),
        outputs: task.outputs.clone(),
        retries: task.retries(),
    };
    result_member(&result, path)
}

fn outputs_member(outputs: &[Output], path: Path<'_>) -> Value {
    let all = || outputs.iter().map(|o| (o.name.clone(), o.value.clone())).collect::<Map>().into();
    match path.split_first() {
        None => Map::from([("parameters".into(), all())]).into(),
        Some((key, _)) if key.as_ref() != "parameters" => Value::Null,
        Some((_, [])) => all(),
        Some((_, [name, rest @ ..])) => {
            outputs.iter().rfind(|o| o.name == *name).map_or(Value::Null, |o| walk(&o.value, rest))
        }
    }
}
