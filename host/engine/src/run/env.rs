//! The names that expressions see: a lazy view over a run, nothing copied.

use std::sync::{Arc, LazyLock};

use super::state::{State, TaskIndex};
use crate::{
    event::{Binding, Facts, Outputs, Requester},
    expr::Env,
    names::{
        self, AttemptFacts, Firing, LastAttempt, Members, PipelineProgress, RunContext, System, TaskResult,
        Workflow,
    },
    phase::Phase,
    plan::{HookType, Level, Plan, TemplateKind},
    run::state::{Place, TaskRun},
    time::Millis,
    usage::ResourceUsage,
    value::{Map, Value},
};

/// The names one expression of one task run sees.
#[derive(Clone, Copy)]
pub(super) struct TaskEnv<'a> {
    pub(super) run: &'a State,
    pub(super) task: &'a TaskRun,
    /// Where the expression was written.
    pub(super) level: Level,
    /// The task's own inputs while they are being bound; else those of the task run.
    pub(super) bound: Option<&'a [Binding]>,
    /// The result that is being judged, shown as the task itself.
    pub(super) result: Option<&'a AttemptResult>,
    /// The hook that is being fired; `task` is the one it is about.
    pub(super) hook: Option<HookType>,
}

/// A finished attempt, or a container about to end, before its phase is written.
#[derive(Clone, Debug, Default)]
pub(super) struct AttemptResult {
    pub(super) phase: Phase,
    pub(super) code: Option<i32>,
    pub(super) message: Arc<str>,
    pub(super) outputs: Outputs,
    pub(super) retries: u32,
    /// The phase whose condition held, if one did.
    pub(super) condition: Option<Phase>,
    /// Further data of an attempt's result.
    pub(super) attempt: AttemptDetails,
    /// A loop's aggregated outputs of its iterations, shown as the outputs of `tasks.<body>`.
    pub(super) aggregated: Option<Outputs>,
}

impl AttemptResult {
    /// Whether the executor says that another attempt would end in the same way, unless a condition has decided about the phase.
    pub(super) fn is_permanent(&self) -> bool {
        let error = self.attempt.detail.member("error");
        let retryable = error.and_then(|error| error.member("retryable"));
        self.condition.is_none() && retryable == Some(&Value::Bool(false))
    }
}

/// Data of an attempt that policy rules see besides its result.
#[derive(Clone, Debug, Default)]
pub(super) struct AttemptDetails {
    /// The executor's detail.
    pub(super) detail: Value,
    /// From its start, if the executor started.
    pub(super) duration: Option<Millis>,
    /// Whether a clock ended it.
    pub(super) expired: bool,
    /// Resources that the attempt used.
    pub(super) metered: ResourceUsage,
}

impl AttemptResult {
    /// The result as others see it, of the task that it is judged for.
    fn seen(&self, of: &TaskRun) -> TaskResult {
        let ran = LastAttempt {
            phase: self.phase,
            code: self.code,
            message: self.message.clone(),
            retries: self.retries,
            resumed_by: by(of),
        };
        TaskResult { ran: Some(ran), outputs: Arc::clone(&self.outputs) }
    }
}

fn by(task: &TaskRun) -> Option<Arc<str>> {
    task.resumed_by().map(|by| Arc::clone(by.text()))
}

/// A task run as others see it.
fn seen(task: &TaskRun) -> TaskResult {
    let ran = LastAttempt {
        phase: task.phase,
        code: task.code,
        message: task.message.clone(),
        retries: task.retries,
        resumed_by: by(task),
    };
    TaskResult { ran: Some(ran), outputs: Arc::clone(&task.outputs) }
}

impl<'a> TaskEnv<'a> {
    pub(super) fn new(run: &'a State, task: &'a TaskRun, level: Level) -> Self {
        Self { run, task, level, bound: None, result: None, hook: None }
    }

    fn container(&self) -> Option<&'a TaskRun> {
        self.run.parent(self.task)
    }

    /// The inputs it sees: its own, and those around.
    fn visible_inputs(&self) -> (&'a [Binding], &'a [Binding]) {
        let own: &'a [Binding] = self.bound.unwrap_or(&self.task.inputs);
        let outer: &'a [Binding] = self.container().map_or(&[], |container| &container.inputs);
        match self.level {
            Level::Template => (own, &[]),
            Level::Inline => (own, outer),
            Level::Node => (&[], outer),
        }
    }

    /// A child of the container that is judged; the body of a loop with its outputs aggregated.
    fn child_judged(&self, name: &Arc<str>) -> Option<TaskResult> {
        if !self.judges_container() {
            return None;
        }
        let child = self.child(self.task, name).map(seen);
        match (self.aggregated(name).cloned(), child) {
            (Some(outputs), child) => Some(TaskResult { ran: child.and_then(|child| child.ran), outputs }),
            (None, child) => child,
        }
    }

    /// Returns the outputs that `tasks.<body>` shows while the loop is judged, whether or not the body ran (R-B7).
    fn aggregated(&self, name: &Arc<str>) -> Option<&'a Outputs> {
        let aggregated = self.result?.aggregated.as_ref()?;
        let each = self.run.plan().loop_of(self.run.node(self.task))?;
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

    /// The pipeline whose course it sees: a pipeline's own outputs and conditions see its own.
    fn pipeline(&self) -> Option<&'a TaskRun> {
        let of_pipeline =
            |task: &&TaskRun| self.run.scope(task).is_some_and(|scope| scope.pipeline().is_some());
        let own = Some(self.task).filter(|_| self.judges_container()).filter(of_pipeline);
        own.or_else(|| self.container().filter(of_pipeline))
    }

    /// The attempt that is judged, else the one that is bound next or runs.
    fn attempt(&self) -> u32 {
        let is_bound = self.result.is_none() && self.task.phase == Phase::Created;
        self.task.attempt + u32::from(is_bound)
    }
}

impl RunContext for TaskEnv<'_> {
    fn workflow(&self) -> Workflow<'_> {
        let Plan { name, namespace, labels, .. } = &**self.run.plan();
        let (id, phase, parameters) = (self.run.id(), self.run.phase(), self.run.parameters());
        let scheduled = self.run.facts().scheduled;
        let submitted_by = self.run.submitted_by().map(Requester::text);
        Workflow { name, namespace, id, phase, scheduled, submitted_by, labels, parameters }
    }

    fn system(&self) -> System<'_> {
        let Facts { os, arch, vars, scheduled: _ } = self.run.facts();
        System { os, arch, vars }
    }

    fn input(&self, name: &str) -> Option<Value> {
        let (own, outer) = self.visible_inputs();
        let found = [own, outer].into_iter().find_map(|list| list.iter().rfind(|b| *b.name == *name));
        found.map(|binding| binding.value.visible())
    }

    fn inputs(&self) -> Map {
        let (own, outer) = self.visible_inputs();
        outer.iter().chain(own).map(|b| (b.name.clone(), b.value.visible())).collect()
    }

    fn task(&self, name: &Arc<str>) -> Option<TaskResult> {
        if let Some(child) = self.child_judged(name) {
            return Some(child);
        }
        if self.is_self(name) {
            return Some(self.judged().unwrap_or_else(|| seen(self.task)));
        }
        self.child(self.container()?, name).map(seen)
    }

    fn children(&self, of: &str) -> Option<Value> {
        let scope = self.run.scope(self.task)?;
        let each = |member: fn(&TaskRun) -> Value| {
            let members: Vec<Value> = self.run.children(self.task).map(member).collect();
            Some(members.into())
        };
        match of {
            "total" => Some(i64::try_from(scope.children.len()).unwrap_or(i64::MAX).into()),
            "phases" => each(|child| child.phase.as_str().into()),
            "codes" => each(|child| child.code.map_or(Value::Null, |code| i64::from(code).into())),
            "messages" => each(|child| Value::String(child.message.clone())),
            phase => scope.tally.get(phase).map(|count| i64::from(count).into()),
        }
    }

    fn iteration(&self) -> Option<(u32, Value)> {
        let around = std::iter::successors(Some(self.task), |task| self.run.parent(task));
        let (task, index) = around.into_iter().find_map(|task| match task.place {
            Place::Iteration(_, index) => Some((task, index)),
            Place::Root | Place::Dag(..) | Place::Attempt(..) | Place::Entry(..) | Place::Hook(_) => None,
        })?;
        Some((index, self.run.item(task).cloned().unwrap_or_default()))
    }

    fn firing(&self) -> Option<Firing> {
        Some(Firing { hook: self.hook?, task: self.run.node(self.task).name.clone(), seen: seen(self.task) })
    }

    fn judged(&self) -> Option<TaskResult> {
        self.result.map(|result| result.seen(self.task))
    }

    fn attempted(&self) -> Option<AttemptFacts<'_>> {
        let AttemptDetails { detail, duration, expired, .. } = &self.result?.attempt;
        Some(AttemptFacts { number: self.task.attempt, detail, duration: *duration, expired: *expired })
    }

    fn pipeline_progress(&self) -> Option<PipelineProgress<'_>> {
        let pipeline = self.pipeline()?;
        let progress = self.run.scope(pipeline)?.pipeline()?;
        let previous = progress.previous.map(|id| &self.run[id]);
        Some(PipelineProgress {
            iter: &progress.iter,
            previous: previous.map(|task| Arc::clone(&task.outputs)),
            inputs: pipeline.inputs.iter().map(|b| (b.name.clone(), b.value.visible())).collect(),
        })
    }

    fn label(&self, label: &Arc<str>) -> Option<Option<Outputs>> {
        let pipeline = self.pipeline()?;
        let scope = self.run.scope(pipeline)?;
        let index = match self.run.plan().kind(scope.template)? {
            TemplateKind::Pipeline(pipeline) => *pipeline.index.get(label)?,
            TemplateKind::Task | TemplateKind::Wrapper(_) | TemplateKind::Dag(_) | TemplateKind::Loop(_) => {
                return None;
            }
        };
        let is_own = pipeline.id != self.task.id && self.is_self(label);
        if let Some(result) = self.result.filter(|_| is_own) {
            return Some(Some(Arc::clone(&result.outputs)));
        }
        let ended = scope.pipeline()?.ended.get(index).copied().flatten();
        Some(ended.map(|id| Arc::clone(&self.run[id].outputs)))
    }

    fn ctx(&self) -> Option<&Arc<Map>> {
        Some(self.run.ctx())
    }

    fn own(&self) -> Option<(Arc<str>, u32)> {
        Some((self.run.node(self.task).name.clone(), self.attempt()))
    }
}

impl Env for TaskEnv<'_> {
    fn get(&self, path: Members<'_>) -> Value {
        names::value(self, path)
    }

    fn owner(&self, path: Members<'_>) -> Value {
        names::owner(self, path)
    }
}

/// The names that `spec.arguments` see before the run exists: workflow, system, vars.
#[derive(Clone, Copy, Debug)]
pub struct SubmitEnv<'a> {
    /// The plan to be run.
    pub plan: &'a Plan,
    /// The id the run will have.
    pub run_id: &'a Arc<str>,
    /// Facts about the host.
    pub facts: &'a Facts,
    /// The caller that submits it, if it is known.
    pub by: Option<&'a Requester>,
}

impl RunContext for SubmitEnv<'_> {
    fn workflow(&self) -> Workflow<'_> {
        static NONE: LazyLock<Arc<Map>> = LazyLock::new(Arc::default);
        let Plan { name, namespace, labels, .. } = self.plan;
        let (id, phase, scheduled) = (self.run_id, Phase::Created, self.facts.scheduled);
        let submitted_by = self.by.map(Requester::text);
        Workflow { name, namespace, id, phase, scheduled, submitted_by, labels, parameters: &NONE }
    }

    fn system(&self) -> System<'_> {
        let Facts { os, arch, vars, scheduled: _ } = self.facts;
        System { os, arch, vars }
    }
}

impl Env for SubmitEnv<'_> {
    fn get(&self, path: Members<'_>) -> Value {
        names::value(self, path)
    }
}
