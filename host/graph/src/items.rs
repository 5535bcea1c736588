//! Content of each container and the order within it, for a plan and for a run as far as it has come.

use std::collections::{BTreeMap, BTreeSet};

use phasm_engine::{
    event::TaskId,
    phase::{Phase, TaskKind},
    plan::{Dag, HookType, Hooks, Node, Pipeline, Plan, TemplateId, TemplateKind, Work},
    run::{Place, Run, TaskRun},
};

use crate::{iterations::ClosedLoop, label::Label, model::Edge, tally::Tally};

/// Something that a node may stand for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Item<'a> {
    /// A call of the plan.
    Node(&'a Node),
    /// A hook of the plan.
    Hook(&'a Node, HookType),
    /// A task run.
    Task(&'a TaskRun),
}

/// Items of one container.
#[derive(Debug, Default)]
pub(crate) struct Group<'a> {
    pub(crate) items: Vec<Item<'a>>,
    pub(crate) edges: Vec<Edge>,
    /// Items that were passed over: no arrow leads to them, and they stand at the end.
    pub(crate) unreached: BTreeSet<usize>,
    /// Number of iterations, which are the first items; 0 outside the loops of runs.
    pub(crate) iterations: usize,
}

/// A plan, or a run of it.
#[derive(Debug)]
pub(crate) struct Source<'a> {
    plan: &'a Plan,
    run: Option<&'a Run>,
    /// Hook runs of each task run; empty for a plan.
    hooks: BTreeMap<TaskId, Vec<&'a TaskRun>>,
    /// Number of tasks of a call, by template.
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

    /// Returns the root with its hooks.
    pub(crate) fn top(&self) -> Group<'a> {
        let root = self.run.and_then(|run| run.task(TaskId::ROOT));
        let items = vec![root.map_or(Item::Node(&self.plan.root), Item::Task)];
        let mut top = Group { items, ..Group::default() };
        if self.run.is_none() {
            top.add_hooks(0, self.planned_hooks(&self.plan.hooks));
        }
        self.with_hooks(top)
    }

    /// Returns the content of `item`: `None` for an executor's work, and for a container that closed before anything began.
    pub(crate) fn inside(&self, item: Item<'a>) -> Option<Group<'a>> {
        let group = match (item, self.run) {
            (Item::Node(node) | Item::Hook(node, _), _) => self.planned(&node.work),
            (Item::Task(task), Some(run)) => self.children(run, task),
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
            TemplateKind::Loop(each) => {
                Some(Group { items: vec![Item::Node(&each.body)], ..Group::default() })
            }
            TemplateKind::Pipeline(pipeline) => Some(of_pipeline(pipeline)),
        }
    }

    fn children(&self, run: &'a Run, task: &'a TaskRun) -> Option<Group<'a>> {
        let children = run.children_in_order(task);
        match children.as_slice() {
            [] if task.phase.is_terminal() => None,
            [] => self.planned(&run.node(task).work),
            // The only attempt is shown as the task itself.
            [only] if run.kind(task) == TaskKind::Wrapper => self.children(run, only),
            children => Some(Group {
                items: children.iter().copied().map(Item::Task).collect(),
                edges: edges_between(run, children),
                unreached: (0..)
                    .zip(children)
                    .filter(|(_, one)| is_unreached(one))
                    .map(|(at, _)| at)
                    .collect(),
                iterations: children.iter().filter(|one| matches!(one.place, Place::Iteration(..))).count(),
            }),
        }
    }

    /// Adds the hooks of each item.
    fn with_hooks(&self, mut group: Group<'a>) -> Group<'a> {
        for (at, item) in group.items.clone().into_iter().enumerate() {
            match item {
                Item::Task(task) => {
                    let hooks = self.hooks.get(&task.id).into_iter().flatten();
                    group.add_hooks(at, hooks.copied().map(Item::Task).collect());
                }
                Item::Node(node) if self.run.is_none() => {
                    group.add_hooks(at, self.planned_hooks(&node.settings.hooks));
                }
                Item::Node(_) | Item::Hook(..) => {}
            }
        }
        group
    }

    fn planned_hooks(&self, hooks: &Hooks) -> Vec<Item<'a>> {
        let hook = |(kind, id): (&HookType, &usize)| Some(Item::Hook(&self.plan.hook(*id)?.node, *kind));
        hooks.iter().filter_map(hook).collect()
    }

    pub(crate) fn label(&self, item: Item<'a>) -> Label {
        let phase = self.run.map(|_| Phase::Created);
        match (item, self.run) {
            (Item::Node(node), _) => Label::of_node(self.plan, node, None, phase),
            (Item::Hook(node, kind), _) => Label::of_node(self.plan, node, Some(kind), phase),
            (Item::Task(task), Some(run)) => Label::of_task(run, task),
            (Item::Task(_), None) => Label::page(),
        }
    }

    /// Returns the content of a loop that is not opened; nothing for other groups.
    pub(crate) fn closed_loop(&self, group: &Group<'a>, max_listed: usize) -> Option<ClosedLoop> {
        let run = self.run.filter(|_| group.iterations > 0)?;
        let task = |item: &Item<'a>| if let Item::Task(task) = item { Some(*task) } else { None };
        let iterations: Vec<_> = group.items.iter().take(group.iterations).filter_map(task).collect();
        Some(ClosedLoop::of(run, &iterations, max_listed, |task| self.tally(Item::Task(task))))
    }

    pub(crate) fn phase(item: Item<'a>) -> Phase {
        if let Item::Task(task) = item { task.phase } else { Phase::Created }
    }

    /// Counts the tasks inside an item, or the item itself.
    pub(crate) fn tally(&self, item: Item<'a>) -> Tally {
        let (task, run) = match (item, self.run) {
            (Item::Task(task), Some(run)) => (task, run),
            (Item::Node(node) | Item::Hook(node, _), _) => return self.count(&node.work),
            (Item::Task(_), None) => return Tally::default(),
        };
        let mut tally = Tally::default();
        let mut queue = vec![task];
        while let Some(task) = queue.pop() {
            let before = queue.len();
            queue.extend(run.children(task));
            if queue.len() > before {
                continue;
            }
            let closed = task.phase.is_terminal() || run.kind(task) == TaskKind::Leaf;
            let own = if closed { Tally::of(task.phase, 1) } else { self.count(&run.node(task).work) };
            tally.add(&own);
        }
        tally
    }

    /// Counts the tasks of a call of the plan.
    fn count(&self, work: &Work) -> Tally {
        let tasks = match work {
            Work::Executor(_) => 1,
            Work::Container(id) | Work::Wrapper(id) => self.counts.get(*id).copied().unwrap_or(1),
        };
        if self.run.is_some() { Tally::of(Phase::Created, tasks) } else { Tally::planned(tasks) }
    }
}

impl<'a> Group<'a> {
    fn add_hooks(&mut self, from: usize, hooks: Vec<Item<'a>>) {
        let first = self.items.len();
        self.edges.extend((first..first + hooks.len()).map(|to| Edge { from, to, hook: true }));
        self.items.extend(hooks);
    }
}

fn of_dag(dag: &Dag) -> Group<'_> {
    let edges = dag.nodes.iter().enumerate().flat_map(|(to, node)| {
        node.dependencies.iter().map(move |from| Edge { from: *from, to, hook: false })
    });
    Group { items: dag.nodes.iter().map(Item::Node).collect(), edges: edges.collect(), ..Group::default() }
}

fn of_pipeline(pipeline: &Pipeline) -> Group<'_> {
    let items: Vec<_> = pipeline.nodes.iter().map(Item::Node).collect();
    Group { edges: chain(items.len()), items, ..Group::default() }
}

/// Returns the edges of items that run one after the other.
fn chain(items: usize) -> Vec<Edge> {
    (1..items).map(|to| Edge { from: to - 1, to, hook: false }).collect()
}

/// Returns the edges between the children of one scope.
fn edges_between(run: &Run, children: &[&TaskRun]) -> Vec<Edge> {
    match children.first().map(|first| first.place) {
        Some(Place::Dag(..)) => in_dag(run, children),
        // Tasks that were never entered stand behind all others.
        Some(Place::Entry(..)) => chain(children.iter().filter(|child| !is_unreached(child)).count()),
        Some(Place::Attempt(..)) => chain(children.len()),
        Some(Place::Iteration(..) | Place::Root | Place::Hook(_)) | None => Vec::new(),
    }
}

/// Whether a task of a pipeline has ended without having been entered.
fn is_unreached(task: &TaskRun) -> bool {
    matches!(task.place, Place::Entry(..)) && task.entry == 0 && task.phase.is_terminal()
}

fn in_dag(run: &Run, children: &[&TaskRun]) -> Vec<Edge> {
    let node = |task: &TaskRun| if let Place::Dag(_, node) = task.place { Some(node) } else { None };
    let at: BTreeMap<usize, usize> =
        children.iter().enumerate().filter_map(|(at, task)| Some((node(task)?, at))).collect();
    let mut edges = Vec::new();
    for (to, task) in children.iter().enumerate() {
        let before = run.node(task).dependencies.iter().filter_map(|node| at.get(node));
        edges.extend(before.map(|from| Edge { from: *from, to, hook: false }));
    }
    edges
}

/// Number of tasks of a call, by template.
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
