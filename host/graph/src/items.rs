//! Content of each container and the order within it, for a plan and for a run as far as it has come.

use std::collections::BTreeMap;

use phasm_engine::{
    event::TaskId,
    phase::{Phase, TaskKind},
    plan::{Dag, HookType, Hooks, Node, Pipeline, Plan, TemplateId, TemplateKind, Work},
    run::{Place, Run, TaskRun},
};

use crate::{look::Look, tally::Tally};

/// Something that may have a box.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Item<'a> {
    /// A call of the plan.
    Node(&'a Node),
    /// A hook of the plan.
    Hook(&'a Node, HookType),
    /// A task run.
    Task(&'a TaskRun),
}

/// One of a group follows another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct After {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// Set when `to` is a hook of the other item.
    pub(crate) hook: bool,
}

/// Items of one container.
#[derive(Debug, Default)]
pub(crate) struct Group<'a> {
    pub(crate) items: Vec<Item<'a>>,
    pub(crate) after: Vec<After>,
}

/// A plan, or a run of it.
#[derive(Debug)]
pub(crate) struct Source<'a> {
    plan: &'a Plan,
    run: Option<&'a Run>,
    /// Hook runs of each task run; empty for a plan.
    hooks: BTreeMap<TaskId, Vec<&'a TaskRun>>,
    /// By template, how many tasks a call of it is.
    counts: Vec<u64>,
}

impl<'a> Source<'a> {
    pub(crate) fn plan(plan: &'a Plan) -> Self {
        Self { plan, run: None, hooks: BTreeMap::new(), counts: counts(plan) }
    }

    pub(crate) fn run(run: &'a Run) -> Self {
        let mut hooks: BTreeMap<TaskId, Vec<&TaskRun>> = BTreeMap::new();
        for hook in run.tasks().iter().filter(|task| task.hook.is_some()) {
            let of = run.above(hook).map(|of| of.id);
            hooks.entry(of.unwrap_or(TaskId::ROOT)).or_default().push(hook);
        }
        Self { run: Some(run), hooks, ..Self::plan(run.plan()) }
    }

    /// The root, with its hooks.
    pub(crate) fn top(&self) -> Group<'a> {
        let root = self.run.and_then(|run| run.task(TaskId::ROOT));
        let mut top =
            Group { items: vec![root.map_or(Item::Node(&self.plan.root), Item::Task)], after: vec![] };
        if self.run.is_none() {
            top.hang(0, self.written(&self.plan.hooks));
        }
        self.with_hooks(top)
    }

    /// Returns the content of `item`: `None` for an executor's work, and for a container that closed before anything began.
    pub(crate) fn inside(&self, item: Item<'a>) -> Option<Group<'a>> {
        let group = match (item, self.run) {
            (Item::Node(node) | Item::Hook(node, _), _) => self.planned(&node.work),
            (Item::Task(task), Some(run)) => self.opened(run, task),
            (Item::Task(_), None) => None,
        };
        group.filter(|group| !group.items.is_empty()).map(|group| self.with_hooks(group))
    }

    fn planned(&self, work: &Work) -> Option<Group<'a>> {
        let (Work::Container(id) | Work::Wrapper(id)) = work else { return None };
        match self.plan.kind(*id)? {
            TemplateKind::Task => None,
            TemplateKind::Wrapper(call) => self.planned(&call.work),
            TemplateKind::Dag(dag) => Some(of_dag(dag)),
            TemplateKind::Loop(each) => Some(Group { items: vec![Item::Node(&each.body)], after: vec![] }),
            TemplateKind::Pipeline(pipeline) => Some(of_pipeline(pipeline)),
        }
    }

    fn opened(&self, run: &'a Run, task: &'a TaskRun) -> Option<Group<'a>> {
        let children: Vec<&TaskRun> = run.children(task).collect();
        match children.as_slice() {
            [] if task.phase.is_terminal() => None,
            [] => self.planned(&run.node(task).work),
            // The only attempt is shown as the task itself.
            [only] if run.kind(task) == TaskKind::Wrapper => self.opened(run, only),
            children => Some(Group {
                items: children.iter().copied().map(Item::Task).collect(),
                after: followed(run, children),
            }),
        }
    }

    /// The group with what is run beside the phases of each in it.
    fn with_hooks(&self, mut group: Group<'a>) -> Group<'a> {
        for (at, item) in group.items.clone().into_iter().enumerate() {
            match item {
                Item::Task(task) => {
                    let hooks = self.hooks.get(&task.id).into_iter().flatten();
                    group.hang(at, hooks.copied().map(Item::Task).collect());
                }
                Item::Node(node) if self.run.is_none() => group.hang(at, self.written(&node.settings.hooks)),
                Item::Node(_) | Item::Hook(..) => {}
            }
        }
        group
    }

    fn written(&self, hooks: &Hooks) -> Vec<Item<'a>> {
        let hook = |(kind, id): (&HookType, &usize)| Some(Item::Hook(&self.plan.hook(*id)?.node, *kind));
        hooks.iter().filter_map(hook).collect()
    }

    pub(crate) fn look(&self, item: Item<'a>) -> Look {
        let phase = self.run.map(|_| Phase::Created);
        match (item, self.run) {
            (Item::Node(node), _) => Look::of_node(self.plan, node, None, phase),
            (Item::Hook(node, kind), _) => Look::of_node(self.plan, node, Some(kind), phase),
            (Item::Task(task), Some(run)) => Look::of_task(run, task),
            (Item::Task(_), None) => Look::page(),
        }
    }

    pub(crate) fn phase(item: Item<'a>) -> Phase {
        if let Item::Task(task) = item { task.phase } else { Phase::Created }
    }

    /// The tasks in it, or that it is.
    pub(crate) fn tally(&self, item: Item<'a>) -> Tally {
        let (task, run) = match (item, self.run) {
            (Item::Task(task), Some(run)) => (task, run),
            (Item::Node(node) | Item::Hook(node, _), _) => return self.count(&node.work),
            (Item::Task(_), None) => return Tally::default(),
        };
        let mut tally = Tally::default();
        let mut ahead = vec![task];
        while let Some(task) = ahead.pop() {
            let opened = ahead.len();
            ahead.extend(run.children(task));
            if ahead.len() > opened {
                continue;
            }
            let closed = task.phase.is_terminal() || run.kind(task) == TaskKind::Leaf;
            let own = if closed { Tally::of(task.phase, 1) } else { self.count(&run.node(task).work) };
            tally.add(&own);
        }
        tally
    }

    /// The tasks that a call of the plan is.
    fn count(&self, work: &Work) -> Tally {
        let tasks = match work {
            Work::Executor(_) => 1,
            Work::Container(id) | Work::Wrapper(id) => self.counts.get(*id).copied().unwrap_or(1),
        };
        if self.run.is_some() { Tally::of(Phase::Created, tasks) } else { Tally::planned(tasks) }
    }
}

impl<'a> Group<'a> {
    fn hang(&mut self, from: usize, hooks: Vec<Item<'a>>) {
        let first = self.items.len();
        self.after.extend((first..first + hooks.len()).map(|to| After { from, to, hook: true }));
        self.items.extend(hooks);
    }
}

fn of_dag(dag: &Dag) -> Group<'_> {
    let after = dag.nodes.iter().enumerate().flat_map(|(to, node)| {
        node.dependencies.iter().map(move |from| After { from: *from, to, hook: false })
    });
    Group { items: dag.nodes.iter().map(Item::Node).collect(), after: after.collect() }
}

fn of_pipeline(pipeline: &Pipeline) -> Group<'_> {
    let items: Vec<_> = pipeline.nodes.iter().map(Item::Node).collect();
    Group { after: chain(items.len()), items }
}

/// One after the other.
fn chain(items: usize) -> Vec<After> {
    (1..items).map(|to| After { from: to - 1, to, hook: false }).collect()
}

/// Which of the children of one scope follow which.
fn followed(run: &Run, children: &[&TaskRun]) -> Vec<After> {
    match children.first().map(|first| first.place) {
        Some(Place::Dag(..)) => in_dag(run, children),
        Some(Place::Entry(..) | Place::Attempt(..)) => chain(children.len()),
        Some(Place::Iteration(..) | Place::Root | Place::Hook(_)) | None => Vec::new(),
    }
}

fn in_dag(run: &Run, children: &[&TaskRun]) -> Vec<After> {
    let node = |task: &TaskRun| if let Place::Dag(_, node) = task.place { Some(node) } else { None };
    let at: BTreeMap<usize, usize> =
        children.iter().enumerate().filter_map(|(at, task)| Some((node(task)?, at))).collect();
    let mut after = Vec::new();
    for (to, task) in children.iter().enumerate() {
        let before = run.node(task).dependencies.iter().filter_map(|node| at.get(node));
        after.extend(before.map(|from| After { from: *from, to, hook: false }));
    }
    after
}

/// By template, how many tasks a call of it is.
fn counts(plan: &Plan) -> Vec<u64> {
    let mut known = vec![None; plan.templates.len()];
    (0..plan.templates.len()).map(|id| count(plan, &mut known, id)).collect()
}

fn count(plan: &Plan, known: &mut Vec<Option<u64>>, id: TemplateId) -> u64 {
    if let Some(Some(count)) = known.get(id) {
        return *count;
    }
    // No template calls itself: a plan is checked for that.
    let calls = plan.kind(id).map(TemplateKind::calls).unwrap_or_default();
    let each = calls.iter().map(|node| match node.work {
        Work::Executor(_) => 1,
        Work::Container(id) | Work::Wrapper(id) => count(plan, known, id),
    });
    let count = each.fold(0, u64::saturating_add).max(1);
    if let Some(slot) = known.get_mut(id) {
        *slot = Some(count);
    }
    count
}
