//! Text of a node.

use phasm_engine::{
    event::{Reason, TaskId},
    phase::Phase,
    plan::{HookType, LoopOver, MaxAttempts, Node, Plan, Recovery, TemplateKind, Work},
    run::{Run, TaskRun, WaitsFor},
    text,
};

use crate::{item_name::short_item, sign::phase_word};

/// Bytes of a task's message in a title.
const MAX_MESSAGE_BYTES: usize = 300;

/// Kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A task with one executor.
    Task,
    /// A dag.
    Dag,
    /// A loop.
    Loop,
    /// A pipeline.
    Pipeline,
    /// A task run at a phase of another one.
    Hook,
    /// Several that are not drawn one by one.
    More,
}

impl Kind {
    /// Returns the kind in a word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Dag => "dag",
            Self::Loop => "loop",
            Self::Pipeline => "pipeline",
            Self::Hook => "hook",
            Self::More => "more",
        }
    }

    fn of(plan: &Plan, work: &Work) -> Self {
        let (Work::Container(id) | Work::Wrapper(id)) = work else { return Self::Task };
        match plan.kind(*id) {
            Some(TemplateKind::Dag(_)) => Self::Dag,
            Some(TemplateKind::Loop(_)) => Self::Loop,
            Some(TemplateKind::Pipeline(_)) => Self::Pipeline,
            Some(TemplateKind::Wrapper(call)) => Self::of(plan, &call.work),
            Some(TemplateKind::Task) | None => Self::Task,
        }
    }
}

/// Text of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Its first line.
    pub name: String,
    /// Kind of the node.
    pub kind: Kind,
    /// Its second line: kind, phase, duration, attempt.
    pub note: String,
    /// Its third line: why it failed, what it asks, a remark on a good end, or how the iterations of a loop stand. Often empty.
    pub detail: String,
    /// Phase of the task run; `None` in a plan.
    pub phase: Option<Phase>,
    /// Number of the task run, if there is one.
    pub task: Option<TaskId>,
    /// Everything, a line each.
    pub title: String,
}

impl Label {
    /// Returns the text of the page around all nodes.
    pub(crate) fn page() -> Self {
        Self::plain(Kind::Dag, String::new(), String::new())
    }

    /// Returns a text without a task run.
    fn plain(kind: Kind, name: String, note: String) -> Self {
        let title = format!("{name}\n{note}");
        Self { name, kind, note, detail: String::new(), phase: None, task: None, title }
    }

    /// Returns the text of a call of the plan. In the picture of a run this call has no task run yet.
    pub(crate) fn of_node(plan: &Plan, node: &Node, hook: Option<HookType>, phase: Option<Phase>) -> Self {
        let kind = hook.map_or_else(|| Kind::of(plan, &node.work), |_| Kind::Hook);
        let mut parts = vec![work(kind, node)];
        parts.extend(iterations(plan, node));
        parts.extend(hook.map(|hook| hook.as_str().to_owned()));
        parts.extend(attempts(node));
        parts.extend(node.when.is_some().then(|| "conditional".to_owned()));
        Self { phase, ..Self::plain(kind, node.name.to_string(), parts.join(" · ")) }
    }

    /// Returns the text of a task run.
    pub(crate) fn of_task(run: &Run, task: &TaskRun) -> Self {
        let node = run.node(task);
        let kind = if task.hook.is_some() { Kind::Hook } else { Kind::of(run.plan(), &node.work) };
        let waits = run.waiting(task).filter(|waiting| waiting.what == WaitsFor::Retry);
        let word = if waits.is_some() { "Waiting for its retry" } else { task_word(run, task) };
        let mut parts = vec![word.to_owned()];
        if matches!(kind, Kind::Dag | Kind::Loop | Kind::Pipeline | Kind::Hook) {
            parts.insert(0, kind.as_str().to_owned());
        }
        parts.extend(task.duration().map(text::elapsed));
        parts.extend((task.attempt > 1).then(|| format!("attempt {}", task.attempt)));
        parts.extend(task.reason.map(|reason| reason.for_people().to_owned()));
        let (note, detail) = (parts.join(" · "), detail(run, task));
        let mut title = format!("{}\n{}\n{note}", run.path(task), work(kind, node));
        if task.phase == Phase::Succeeded && !detail.is_empty() {
            title = format!("{title}\n{detail}");
        }
        if let Some(until) = waits.and_then(|waiting| waiting.until) {
            title = format!("{title}\nattempt {} begins at {}", task.attempt + 1, until.to_rfc3339());
        }
        if let Some(clock) = run.exceeded(task) {
            title = format!("{title}\nTimed out: {clock}");
        }
        if !task.message.is_empty() {
            title = format!("{title}\n{}", text::cut(&task.message, MAX_MESSAGE_BYTES));
        }
        let item = short_item(run, task);
        let name = format!("{} {item}", run.label(task)).trim_end().to_owned();
        let phase = Some(Reason::counts_as(task.phase, task.reason));
        Self { name, kind, note, detail, phase, task: Some(task.id), title }
    }

    /// Returns the note of a node with others in it: note and detail in one line.
    pub(crate) fn header_note(&self) -> String {
        let lines = [&self.note, &self.detail].map(String::as_str);
        lines.into_iter().filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" · ")
    }

    /// Returns the text of the node that stands for items that are not drawn.
    pub(crate) fn more(items: usize, note: String) -> Self {
        Self::plain(Kind::More, format!("… {items} more"), note)
    }

    /// Returns the text of the row that stands for iterations of a loop that are not listed.
    pub(crate) fn unlisted(iterations: usize, note: String) -> Self {
        Self::plain(Kind::More, format!("and {iterations} more"), note)
    }
}

/// Returns the word for the phase of a task run. A clock that ran out is a timeout, also where its policy cancels the task.
/// A task that a person rejected is rejected.
pub(crate) fn task_word(run: &Run, task: &TaskRun) -> &'static str {
    if run.is_rejected(task) {
        return "Rejected";
    }
    let counts_as = Reason::counts_as(task.phase, task.reason);
    if counts_as == task.phase { phase_word(task.phase) } else { "Timed out" }
}

/// Returns the text below the note of a task: why it failed or waits for its retry, what it asks, or a remark on a good end.
pub(crate) fn detail(run: &Run, task: &TaskRun) -> String {
    let last = task.attempts.last().map(|attempt| &attempt.message);
    let message = match Reason::counts_as(task.phase, task.reason) {
        Phase::Failed | Phase::Error | Phase::Timeout | Phase::Suspended => &task.message,
        Phase::Created => last.unwrap_or(&task.message),
        Phase::Succeeded => return run.remarks(task).join(" · "),
        Phase::Ready | Phase::Running | Phase::Skipped | Phase::Cancelled => return String::new(),
    };
    let line = message.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    text::cut(line.trim(), MAX_MESSAGE_BYTES).into_owned()
}

/// Returns the number of iterations of a loop, where the plan knows it.
fn iterations(plan: &Plan, node: &Node) -> Option<String> {
    let LoopOver::Items(items) = &plan.loop_of(node)?.over else { return None };
    Some(format!("{} iteration{}", items.len(), if items.len() == 1 { "" } else { "s" }))
}

/// Returns the executor type of a node, or the kind of the template that it calls.
fn work(kind: Kind, node: &Node) -> String {
    match &node.work {
        Work::Executor(call) => call.executor_type.to_string(),
        Work::Container(_) | Work::Wrapper(_) => kind.as_str().to_owned(),
    }
}

/// Returns the maximum number of attempts of a node, where it sets one.
fn attempts(node: &Node) -> Option<String> {
    match node.settings.recovery.as_ref()? {
        Recovery::Retry(retry) => match retry.max_attempts {
            MaxAttempts::Unlimited => Some("any number of attempts".to_owned()),
            MaxAttempts::Limited(max) => (max > 1).then(|| format!("{max} attempts")),
        },
        Recovery::Policy(_) => Some("rules".to_owned()),
    }
}
