//! What expressions see (R-E2): a lazy view over a run, nothing copied.

mod values;

use std::sync::Arc;

use self::values::{
    member_of, only_outputs, outputs_member, result_member, result_members, seen, system_member, task_member,
    workflow_member,
};
pub(super) use self::values::{named, walk};
use super::{
    decide::{loop_of, outcome_member},
    state::{State, TaskIndex},
};
use crate::{
    event::{Binding, Facts, Outputs},
    expr::Env,
    phase::Phase,
    plan::{HookType, Level, Plan, TemplateKind},
    run::state::{Place, TaskRun},
    time::Millis,
    value::{Map, Value},
};

/// The names one expression of one task run sees.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) run: &'a State,
    pub(super) task: &'a TaskRun,
    /// Where the expression was written.
    pub(super) level: Level,
    /// The task's own inputs while they are being bound; else those of the task run.
    pub(super) bound: Option<&'a [Binding]>,
    /// The result that is being judged, shown as the task itself.
    pub(super) result: Option<&'a Judged>,
    /// The hook that is being fired; `task` is the one it is about.
    pub(super) hook: Option<HookType>,
}

/// A finished attempt, or a container about to end, before its phase is written.
#[derive(Clone, Debug, Default)]
pub(super) struct Judged {
    pub(super) phase: Phase,
    pub(super) code: Option<i32>,
    pub(super) message: Arc<str>,
    pub(super) outputs: Outputs,
    pub(super) retries: u32,
    /// What more an attempt's result says.
    pub(super) attempt: AttemptSeen,
    /// Of a loop: the outputs of its iterations, aggregated, shown as those of `tasks.<body>`.
    pub(super) aggregated: Option<Outputs>,
}

/// What policy rules see of an attempt besides its result.
#[derive(Clone, Debug, Default)]
pub(super) struct AttemptSeen {
    /// The executor's detail.
    pub(super) detail: Value,
    /// From its start, if the executor started.
    pub(super) duration: Option<Millis>,
    /// Whether a clock ended it.
    pub(super) expired: bool,
}

pub(super) type Path<'p> = &'p [Arc<str>];

impl<'a> View<'a> {
    pub(super) fn new(run: &'a State, task: &'a TaskRun, level: Level) -> Self {
        Self { run, task, level, bound: None, result: None, hook: None }
    }

    fn own_inputs(&self) -> &[Binding] {
        self.bound.unwrap_or(&self.task.inputs)
    }

    fn outer_inputs(&self) -> &[Binding] {
        self.run.parent(self.task).map_or(&[], |container| &container.inputs)
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
            let all = outer.iter().chain(own).map(|b| (b.name.clone(), b.value.visible()));
            return all.collect::<Map>().into();
        };
        let found = [own, outer].into_iter().find_map(|list| list.iter().rfind(|b| b.name == *name));
        found.map_or(Value::Null, |binding| walk(&binding.value.visible(), rest))
    }

    fn tasks(&self, path: Path<'_>) -> Value {
        let Some((name, rest)) = path.split_first() else { return Value::Null };
        if self.judges_container() {
            let child = self.child(self.task, name);
            match (self.aggregated(name), child) {
                (Some(outputs), Some(child)) => {
                    return result_member(&Judged { outputs: outputs.clone(), ..seen(child) }, rest);
                }
                (Some(outputs), None) => return only_outputs(outputs, rest),
                (None, Some(child)) => return task_member(child, rest),
                (None, None) => {}
            }
        }
        if self.is_self(name) {
            return match self.result {
                Some(result) => result_member(result, rest),
                None => task_member(self.task, rest),
            };
        }
        let container = self.run.parent(self.task);
        container.and_then(|c| self.child(c, name)).map_or(Value::Null, |sibling| task_member(sibling, rest))
    }

    /// What a loop that is judged shows as the outputs of `tasks.<body>`, whether or not it ran (R-B7).
    fn aggregated(&self, name: &Arc<str>) -> Option<&'a Outputs> {
        let aggregated = self.result?.aggregated.as_ref()?;
        let each = loop_of(self.run.plan(), self.run.node(self.task))?;
        (each.body.name == *name).then_some(aggregated)
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
                    .and_then(|t| self.run.plan().templates.get(t))
                    .is_some_and(|t| t.name == *name))
    }

    fn child(&self, container: &'a TaskRun, name: &Arc<str>) -> Option<&'a TaskRun> {
        let scope = self.run.scope(container)?;
        let child = match self.run.plan().kind(scope.template)? {
            TemplateKind::Dag(dag) => scope.children.get(*dag.index.get(name)?)?,
            TemplateKind::Loop(each) if each.body.name == *name => scope.children.last()?,
            TemplateKind::Pipeline(pipeline) => {
                return self.entered(scope.pipeline()?.latest.get(*pipeline.index.get(name)?)?);
            }
            TemplateKind::Task | TemplateKind::Wrapper(_) | TemplateKind::Loop(_) => return None,
        };
        Some(&self.run[*child])
    }

    /// A pipeline's task is seen from its first entry on, and as skipped when it was never reached.
    fn entered(&self, task: &TaskIndex) -> Option<&'a TaskRun> {
        let task = &self.run[*task];
        (task.unmet == 0 || task.phase.is_terminal()).then_some(task)
    }

    /// `loop`, `iterator` and `loop_iter` of the nearest iteration around the task (R-E2).
    fn iteration(&self, path: Path<'_>, fields: bool) -> Value {
        let around = std::iter::successors(Some(self.task), |task| self.run.parent(task));
        let found = around.into_iter().find_map(|task| match task.place {
            Place::Iteration(_, index) => Some((task, index)),
            Place::Root | Place::Dag(..) | Place::Attempt(..) | Place::Entry(..) | Place::Hook(_) => None,
        });
        let Some((task, index)) = found else { return Value::Null };
        let (item, index) = (self.run.item(task).cloned().unwrap_or_default(), Value::from(i64::from(index)));
        match path.split_first() {
            None => Map::from([("index".into(), index), ("item".into(), item)]).into(),
            Some((key, rest)) if key.as_ref() == "index" => walk(&index, rest),
            Some((key, rest)) if key.as_ref() == "item" => walk(&item, rest),
            Some(_) if fields => walk(&item, path),
            Some(_) => Value::Null,
        }
    }

    /// What tasks of a pipeline and their rules see besides (R-N7), if that is what `root` names.
    fn pipeline(&self, root: &Arc<str>, path: Path<'_>) -> Option<Value> {
        let container = self.run.parent(self.task);
        // A pipeline's own outputs and conditions see its course too.
        let own =
            self.run.scope(self.task).and_then(|scope| scope.pipeline()).filter(|_| self.judges_container());
        let outer = self.run.scope_around(self.task).and_then(|scope| scope.pipeline());
        let (Some(pipeline), Some(course)) =
            (if own.is_some() { Some(self.task) } else { container }, own.or(outer))
        else {
            return None;
        };
        let outputs = |id: TaskIndex| walk(&named(&self.run[id].outputs), path);
        Some(match root.as_ref() {
            "iter" => member_of(&course.iter, path),
            "args" => {
                let inputs = pipeline.inputs.iter().map(|b| (b.name.clone(), b.value.visible()));
                walk(&inputs.collect::<Map>().into(), path)
            }
            "_prev" => course.previous.map_or(Value::Null, outputs),
            label => {
                let index = self.run.scope(pipeline).and_then(|scope| {
                    match self.run.plan().kind(scope.template)? {
                        TemplateKind::Pipeline(pipeline) => pipeline.index.get(label).copied(),
                        TemplateKind::Task
                        | TemplateKind::Wrapper(_)
                        | TemplateKind::Dag(_)
                        | TemplateKind::Loop(_) => None,
                    }
                })?;
                match (self.result, course.ended.get(index).copied().flatten()) {
                    (Some(result), _) if own.is_none() && self.is_self(root) => {
                        walk(&named(&result.outputs), path)
                    }
                    (_, ended) => {
                        let ran = |id: &TaskIndex| self.run[*id].phase != Phase::Skipped;
                        ended.filter(ran).map_or(Value::Null, outputs)
                    }
                }
            }
        })
    }

    /// The attempt that is judged, else the one that is bound next or runs.
    fn attempt(&self) -> u32 {
        let is_bound = self.result.is_none() && self.task.phase == Phase::Created;
        self.task.attempt + u32::from(is_bound)
    }

    /// What a hook sees of what fired it (R-S12).
    fn fired(&self, path: Path<'_>) -> Value {
        let Some(kind) = self.hook else { return Value::Null };
        if let [task, outputs, rest @ ..] = path
            && (task.as_ref(), outputs.as_ref()) == ("task", "outputs")
        {
            return outputs_member(&self.task.outputs, rest);
        }
        let workflow: [(Arc<str>, Value); 3] = [
            ("name".into(), self.run.plan().name.clone().into()),
            ("id".into(), self.run.id().clone().into()),
            ("phase".into(), self.run.phase().as_str().into()),
        ];
        let mut task = result_members(&seen(self.task));
        task.insert("name".into(), self.run.node(self.task).name.clone().into());
        let hook: [(Arc<str>, Value); 3] = [
            ("type".into(), kind.as_str().into()),
            ("workflow".into(), Map::from(workflow).into()),
            ("task".into(), task.into()),
        ];
        walk(&Map::from(hook).into(), path)
    }

    fn children(&self, path: Path<'_>) -> Value {
        let (Some(scope), Some((name, []))) = (self.run.scope(self.task), path.split_first()) else {
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
            _ => walk(&self.facts.vars, path),
        }
    }
}

impl Env for View<'_> {
    fn get(&self, path: Path<'_>) -> Value {
        let Some((root, rest)) = path.split_first() else { return Value::Null };
        match root.as_ref() {
            "workflow" => {
                workflow_member(self.run.plan(), self.run.id(), self.run.phase(), self.run.parameters(), rest)
            }
            "inputs" => self.inputs(rest),
            "tasks" => self.tasks(rest),
            "children" => self.children(rest),
            "system" => system_member(self.run.facts(), rest),
            "vars" => walk(&self.run.facts().vars, rest),
            "loop" | "iterator" => self.iteration(rest, false),
            "loop_iter" => self.iteration(rest, true),
            "hook" => self.fired(rest),
            "outcome" => self.result.map_or(Value::Null, |result| outcome_member(self.task, result, rest)),
            "ctx" => member_of(self.run.ctx(), rest),
            "workload" => member_of(self.run.parameters(), rest),
            "_task" => walk(&self.run.node(self.task).name.clone().into(), rest),
            "_attempt" => walk(&i64::from(self.attempt()).into(), rest),
            "phase" | "code" | "msg" | "outputs" | "retries" => {
                self.result.map_or(Value::Null, |result| result_member(result, path))
            }
            _ => self.pipeline(root, rest).unwrap_or_else(|| walk(&self.run.facts().vars, path)),
        }
    }
}
