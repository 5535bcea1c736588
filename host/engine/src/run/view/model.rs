//! The run view: one run as people and programs see it, the same on the command line and over HTTP.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    event::{Binding, Reason, Requester},
    outcome::Output,
    phase::Phase,
    plan::{HookType, Parameter, Work},
    run::{
        Run,
        state::{Attempt, TaskRun},
        view::{
            Waiting,
            limit::{NoLimit, ShownValue, ValueKind, ViewLimit},
            named::{NamedInput, NamedOutput},
        },
    },
    time::{Millis, TimeText, Timestamp},
    usage::ResourceUsage,
    value::Value,
};

/// One run. Field names follow the specification.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Run")]
pub struct RunView {
    /// The run's id.
    #[serde(rename = "runID")]
    pub run_id: Arc<str>,
    /// The id of the run that this is a rerun of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rerun_of: Option<Arc<str>>,
    /// The id of the trace that it belongs to, if it is known to.
    #[serde(rename = "traceID", skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^[0-9a-f]{32}$"))]
    pub trace_id: Option<Arc<str>>,
    /// `metadata.name`.
    pub workflow: Arc<str>,
    /// `metadata.namespace`.
    pub namespace: Arc<str>,
    /// The phase of the run.
    pub phase: Phase,
    /// The message of the run.
    pub message: Arc<str>,
    /// The reason of the run's phase.
    pub reason: Option<Reason>,
    /// The clock that ended it, if one did: `exceeded maxRuntime (1 s) in main/load`. The end counts as a timeout, also where the
    /// phase is Cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timed_out: Option<String>,
    /// Failures and rejections in it, where it Succeeded all the same: `2 of 500 failed (tolerated)`, `main/ask rejected`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// The outputs of the run.
    pub outputs: Vec<NamedOutput>,
    /// `spec.arguments` as bound.
    pub parameters: Vec<NamedInput>,
    /// Warnings: first of the workflow file, then of the execution.
    pub warnings: Vec<WarningView>,
    /// RFC 3339.
    #[schemars(with = "TimeText")]
    pub submitted_at: String,
    /// The caller that submitted it, or asked for the rerun: the name of a key, `local:USER` or `schedule:NAMESPACE/NAME`; absent
    /// where it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submitted_by: Option<Requester>,
    /// The caller that cancelled it; absent where none did, or it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancelled_by: Option<Requester>,
    /// First Running.
    #[schemars(with = "Option<TimeText>")]
    pub started_at: Option<String>,
    /// The end.
    #[schemars(with = "Option<TimeText>")]
    pub finished_at: Option<String>,
    /// From submit to the end.
    pub duration_ms: Option<Millis>,
    /// The end of `spec.timeout`; null while it stands still, as the default does while the run only waits for people.
    #[schemars(with = "Option<TimeText>")]
    pub deadline_at: Option<String>,
    /// Terminal of all leaf task runs, as `3/4`.
    #[schemars(regex(pattern = "^[0-9]+/[0-9]+$"))]
    pub progress: String,
    /// The reason why it waits, if none of its tasks is at work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting: Option<Waiting>,
    /// Resources used by all attempts, hooks included; absent where nothing was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<UsageView>,
    /// Every task run, in creation order.
    pub tasks: Vec<TaskView>,
    /// Hook runs, in creation order.
    pub hooks: Vec<HookView>,
}

/// One hook run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Hook")]
pub struct HookView {
    /// The run itself.
    #[serde(flatten)]
    pub task: TaskView,
    /// The id of the task run whose hook it is; for spec.hooks the id of the run's first task run.
    pub hook_of: String,
    /// The field it stands in, as `onExit`.
    pub hook_type: HookType,
}

/// One task run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Task")]
pub struct TaskView {
    /// The task run's id.
    #[serde(rename = "taskRunID")]
    pub task_run_id: String,
    /// The id of its container; null for the entrypoint and for hook runs.
    #[serde(rename = "parentTaskRunID")]
    pub parent_task_run_id: Option<String>,
    /// The path of its container; empty for the entrypoint.
    pub scope: String,
    /// The node's name.
    pub task_name: Arc<str>,
    /// The template called; null for an inline executor.
    pub template_name: Option<Arc<str>>,
    /// task, dag, loop or pipeline.
    #[schemars(extend("enum" = ["task", "dag", "loop", "pipeline"]))]
    pub template_type: &'static str,
    /// Levels below the entrypoint.
    pub depth: u32,
    /// Number of this entry in the order of execution, from 1, if it is one of a pipeline that has jumped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<u32>,
    /// Where it stands.
    pub phase: Phase,
    /// Why, where the phase alone does not say.
    pub reason: Option<Reason>,
    /// The clock that ended it, if one did: `exceeded maxRuntime (1 s)`. The end counts as a timeout, also where the phase is
    /// Cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timed_out: Option<String>,
    /// Failures and rejections in it, where it Succeeded all the same: `2 of 500 failed (tolerated)`, `main/ask rejected`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// Why it ended badly without another attempt although its `retry` had some left: `` `retry` applies to Error and Timeout ``.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_retried: Option<String>,
    /// The id of the run whose result it has; absent where it was executed here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reused: Option<Arc<str>>,
    /// The last attempt's code.
    pub code: Option<i32>,
    /// A sentence for people.
    pub message: Arc<str>,
    /// Why the executor refused the last response; absent unless it is suspended again because of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<Arc<str>>,
    /// The caller whose response was refused; absent where it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused_by: Option<Requester>,
    /// The caller whose response it has; absent where it has none, or the caller is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resumed_by: Option<Requester>,
    /// When that response was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<TimeText>")]
    pub resumed_at: Option<String>,
    /// The caller that cancelled this task; absent where none did, or it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancelled_by: Option<Requester>,
    /// Bound inputs.
    pub inputs: Vec<NamedInput>,
    /// The returned outputs.
    pub outputs: Vec<NamedOutput>,
    /// Retries made.
    pub retries: u32,
    /// The same, and how long it took.
    pub metrics: Metrics,
    /// The last 64 attempts; their numbers say how many came before.
    #[schemars(length(max = 64))]
    pub attempts: Vec<AttemptView>,
    /// Time of creation.
    #[schemars(with = "TimeText")]
    pub created_at: String,
    /// First Running.
    #[schemars(with = "Option<TimeText>")]
    pub started_at: Option<String>,
    /// Last Suspended.
    #[schemars(with = "Option<TimeText>")]
    pub suspended_at: Option<String>,
    /// The end.
    #[schemars(with = "Option<TimeText>")]
    pub finished_at: Option<String>,
    /// From the first dispatch to the end.
    pub duration_ms: Option<Millis>,
    /// The end of a retry's delay.
    #[schemars(with = "Option<TimeText>")]
    pub wake_at: Option<String>,
    /// The earliest of `timeout` and `deadline`.
    #[schemars(with = "Option<TimeText>")]
    pub deadline_at: Option<String>,
    /// The reason why it waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting: Option<Waiting>,
}

/// Counted and measured.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Metrics {
    /// Retries made.
    pub retries: u32,
    /// From the first dispatch to the end.
    pub duration_ms: Option<Millis>,
    /// Resources used by all its attempts; absent where nothing was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<UsageView>,
}

/// Resources that were used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Usage")]
pub struct UsageView {
    /// Time computed, in microseconds.
    pub cpu_us: u64,
    /// Memory when it was largest, in bytes.
    pub memory_bytes: u64,
    /// Bytes that came in, from files and by HTTP.
    pub bytes_in: u64,
    /// Bytes that went out, to files and by HTTP.
    pub bytes_out: u64,
    /// Calls of the host.
    pub host_calls: u32,
}

impl UsageView {
    /// Shows what was used; nothing, if that was not measured.
    #[must_use]
    pub fn of(metered: ResourceUsage) -> Option<Self> {
        let ResourceUsage { cpu_us, calls, bytes_in, bytes_out, .. } = metered;
        let view = Self { cpu_us, memory_bytes: metered.memory(), bytes_in, bytes_out, host_calls: calls };
        (!metered.is_nothing()).then_some(view)
    }
}

/// One attempt.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Attempt")]
pub struct AttemptView {
    /// From 1.
    #[schemars(range(min = 1))]
    pub number: u32,
    /// When the executor started; null if it never did.
    #[schemars(with = "Option<TimeText>")]
    pub started_at: Option<String>,
    /// When it was over.
    #[schemars(with = "Option<TimeText>")]
    pub finished_at: Option<String>,
    /// Its result, or where it stands.
    pub phase: Phase,
    /// The executor's code.
    pub code: Option<i32>,
    /// The executor's message.
    pub message: Arc<str>,
    /// Why it has this phase, once it has ended: `code 3`, `phaseConditions.error was true`, `exceeded maxRuntime (1 s)`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Resources that it used; absent where nothing was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<UsageView>,
}

/// A doubt.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Warning")]
pub struct WarningView {
    /// The catalogue's code, or a word for one met while running.
    pub code: Arc<str>,
    /// The path in the workflow file, or the path of the task.
    pub path: String,
    /// The doubtful fact.
    pub message: String,
}

impl RunView {
    /// Shows a run as it stands.
    #[must_use]
    pub fn of(run: &Run) -> Self {
        Self::limited(run, 0, usize::MAX, &NoLimit)
    }

    /// Shows a run as it stands, of its task and hook runs `most` at most from the one of number `from` on, in creation order;
    /// fewer, but one, where the view is full before.
    #[must_use]
    pub fn limited(run: &Run, from: usize, most: usize, limit: &dyn ViewLimit) -> Self {
        let plan = run.plan();
        let times = run.times();
        let root = run.tasks().first().map(|root| TaskView::limited(run, root, limit));
        let root = root.as_ref();
        let parameter = |(name, value): (&Arc<str>, &Value)| {
            let shown = ShownValue { kind: ValueKind::Parameter, owner: run.id(), name, value };
            NamedInput::limited(name, value.clone(), limit.left_out(shown))
        };
        let parameters = run.parameters().iter().map(parameter).collect();
        let (mut tasks, mut hooks) = (Vec::new(), Vec::new());
        for task in run.tasks().iter().skip(from).take(most) {
            if limit.is_full() && !(tasks.is_empty() && hooks.is_empty()) {
                break;
            }
            match HookView::of(run, task, limit) {
                Some(hook) => hooks.push(hook),
                None => tasks.push(TaskView::limited(run, task, limit)),
            }
        }
        Self {
            run_id: run.id().clone(),
            rerun_of: run.rerun_of().cloned(),
            trace_id: run.trace_id().map(Into::into),
            workflow: plan.name.clone(),
            namespace: plan.namespace.clone(),
            phase: run.phase(),
            message: root.map(|root| root.message.clone()).unwrap_or_default(),
            reason: root.and_then(|root| root.reason),
            timed_out: root.and_then(|root| root.timed_out.clone()),
            remarks: root.map(|root| root.remarks.clone()).unwrap_or_default(),
            outputs: root.map(|root| root.outputs.clone()).unwrap_or_default(),
            parameters,
            warnings: warnings(run),
            submitted_at: times.submitted_at.to_rfc3339(),
            submitted_by: run.submitted_by().cloned(),
            cancelled_by: run.cancelled_by().cloned(),
            started_at: times.started_at.map(Timestamp::to_rfc3339),
            finished_at: times.finished_at.map(Timestamp::to_rfc3339),
            duration_ms: times.finished_at.map(|end| end.since(times.submitted_at)),
            deadline_at: run.run_deadline().map(Timestamp::to_rfc3339),
            progress: run.progress().to_string(),
            waiting: run.run_waiting(),
            usage: UsageView::of(run.metered()),
            tasks,
            hooks,
        }
    }
}

impl HookView {
    fn of(run: &Run, task: &TaskRun, limit: &dyn ViewLimit) -> Option<Self> {
        let hook = task.hook?;
        Some(Self {
            task: TaskView::limited(run, task, limit),
            hook_of: run.task_run_id(hook.task.into()),
            hook_type: hook.kind,
        })
    }
}

fn warnings(run: &Run) -> Vec<WarningView> {
    let written = run.plan().warnings.iter().map(|warning| WarningView {
        code: warning.code.into(),
        path: warning.path.clone(),
        message: warning.message.clone(),
    });
    let met = run.warnings().iter().map(|warning| WarningView {
        code: warning.code.clone(),
        path: warning.task.and_then(|id| run.task(id)).map(|task| run.path(task)).unwrap_or_default(),
        message: warning.message.as_ref().to_owned(),
    });
    written.chain(met).collect()
}

impl TaskView {
    /// Shows one task run.
    #[must_use]
    pub fn of(run: &Run, task: &TaskRun) -> Self {
        Self::limited(run, task, &NoLimit)
    }

    /// Shows one task run, without the values that the limit leaves out.
    #[must_use]
    pub fn limited(run: &Run, task: &TaskRun, limit: &dyn ViewLimit) -> Self {
        let task_run_id = run.task_run_id(task.id);
        let owner = task_run_id.as_str();
        let input = |binding: &Binding| {
            let (name, value) = (&binding.name, binding.value.visible());
            let left_out = limit.left_out(ShownValue { kind: ValueKind::Input, owner, name, value: &value });
            NamedInput::limited(name, value, left_out)
        };
        let output = |output: &Output, declared: &[Parameter]| {
            let Output { name, value } = output;
            let left_out = limit.left_out(ShownValue { kind: ValueKind::Output, owner, name, value });
            NamedOutput::limited(output, declared, left_out)
        };
        let node = run.node(task);
        let template = node.template.and_then(|id| run.plan().templates.get(id));
        let called = match node.work {
            Work::Container(id) => run.plan().templates.get(id),
            Work::Executor(_) | Work::Wrapper(_) => None,
        };
        let (retries, duration_ms) = (task.retries, task.duration());
        Self {
            inputs: task.inputs.iter().map(input).collect(),
            outputs: task.outputs.iter().map(|one| output(one, &node.outputs)).collect(),
            task_run_id,
            parent_task_run_id: run.parent(task).map(|parent| run.task_run_id(parent.id)),
            scope: run.scope_path(task),
            task_name: node.name.clone(),
            template_name: template.map(|template| template.name.clone()),
            template_type: called.map_or("task", |template| template.kind.as_str()),
            depth: task.depth,
            entry: run.entry_number(task),
            phase: task.phase,
            reason: task.reason,
            timed_out: run.exceeded(task),
            remarks: run.remarks(task),
            not_retried: run.not_retried(task),
            reused: run.rerun_of().filter(|_| task.reused).cloned(),
            code: task.code,
            message: task.message.clone(),
            refused: task.refusal().cloned(),
            refused_by: task.refused_by().cloned(),
            resumed_by: task.resumed_by().cloned(),
            resumed_at: task.resumed_at().map(Timestamp::to_rfc3339),
            cancelled_by: task.cancelled_by().cloned(),
            retries,
            metrics: Metrics { retries, duration_ms, usage: UsageView::of(task.metered) },
            attempts: task.attempts.iter().map(|attempt| AttemptView::of(run, task, attempt)).collect(),
            created_at: task.created_at.to_rfc3339(),
            started_at: task.started_at.map(Timestamp::to_rfc3339),
            suspended_at: task.suspended_at.map(Timestamp::to_rfc3339),
            finished_at: task.finished_at.map(Timestamp::to_rfc3339),
            duration_ms,
            wake_at: task.clocks.wake.map(Timestamp::to_rfc3339),
            deadline_at: task.clocks.absolute().map(Timestamp::to_rfc3339),
            waiting: run.waiting(task),
        }
    }
}

impl AttemptView {
    fn of(run: &Run, task: &TaskRun, attempt: &Attempt) -> Self {
        Self {
            number: attempt.number,
            started_at: attempt.started_at.map(Timestamp::to_rfc3339),
            finished_at: attempt.finished_at.map(Timestamp::to_rfc3339),
            phase: attempt.phase,
            code: attempt.code,
            message: attempt.message.clone(),
            reason: run.reason_of(task, attempt),
            usage: UsageView::of(attempt.metered),
        }
    }
}
