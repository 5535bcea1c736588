//! Events that open containers and add to them.

use std::sync::Arc;

use super::{
    ContainerProgress, LoopState, PipelineState, Place, Scope, ScopeIndex, State, TaskIndex, TaskRun,
    apply::ApplyResult, phases::begin_attempt, table::count,
};
use crate::{
    event::{ScopeOpening, TaskId},
    plan::{Loop, LoopOver, TemplateId, TemplateKind, Work},
    value::Value,
};

/// The common properties of the children of a scope that opens.
struct ChildrenSpec<C, P> {
    template: TemplateId,
    parallelism: Option<u32>,
    /// The scope's progress, given its children.
    progress: C,
    length: usize,
    /// Where each child stands, and how much holds it back.
    place: P,
}

impl State {
    /// Returns the number of task runs that a scope has when it opens; `items` are a loop's.
    pub(in crate::run) fn children_at_first(&self, task: &TaskRun, items: Option<&Vec<Value>>) -> usize {
        let Work::Container(template) = self.node(task).work else { return 1 };
        match self.plan().kind(template) {
            Some(TemplateKind::Dag(dag)) => dag.nodes.len(),
            Some(TemplateKind::Pipeline(pipeline)) => pipeline.nodes.len(),
            Some(TemplateKind::Loop(_)) => items.map_or(1, Vec::len),
            Some(TemplateKind::Task | TemplateKind::Wrapper(_)) | None => 1,
        }
    }

    pub(super) fn apply_scope_opened(&mut self, opened: &ScopeOpening) -> ApplyResult {
        let plan = Arc::clone(&self.plan);
        let id = self.existing(opened.task)?;
        let template = match self.node(&self[id]).work {
            Work::Wrapper(template) => {
                self.bind_container(id, opened);
                self.open_attempt(id, template);
                return Ok(());
            }
            Work::Container(template) if self[id].scope.is_none() => template,
            Work::Container(_) => return Err(format!("task run {id} is open already")),
            Work::Executor(_) => return Err(format!("task run {id} is not a container")),
        };
        self.bind_container(id, opened);
        match plan.kind(template) {
            Some(TemplateKind::Dag(dag)) => {
                let waits = |index: usize| dag.nodes.get(index).map_or(0, |node| node.dependencies.len());
                self.populate(
                    id,
                    ChildrenSpec {
                        template,
                        parallelism: dag.parallelism,
                        progress: |_: &[TaskIndex]| ContainerProgress::Dag,
                        length: dag.nodes.len(),
                        place: |index| (Place::Dag(template, index), count(waits(index))),
                    },
                );
            }
            Some(TemplateKind::Loop(each)) => self.open_loop(id, opened, template, each),
            Some(TemplateKind::Pipeline(pipeline)) => {
                self.populate(
                    id,
                    ChildrenSpec {
                        template,
                        parallelism: None,
                        progress: |tasks: &[TaskIndex]| {
                            ContainerProgress::Pipeline(Box::new(PipelineState::new(
                                tasks.to_vec(),
                                pipeline.max_jumps,
                            )))
                        },
                        length: pipeline.nodes.len(),
                        place: |index| (Place::Entry(template, index, 0), u32::from(index > 0)),
                    },
                );
                let first = self[id].scope.and_then(|scope| self[scope].children.first().copied());
                first.into_iter().for_each(|first| self.count_entry(first));
            }
            Some(TemplateKind::Task | TemplateKind::Wrapper(_)) | None => {
                return Err(format!("the template of task run {id} cannot be opened"));
            }
        }
        Ok(())
    }

    fn bind_container(&mut self, id: TaskIndex, opened: &ScopeOpening) {
        let container = &mut self.tables[id];
        container.inputs = opened.inputs.clone();
        container.rebind = false;
    }

    fn open_loop(&mut self, id: TaskIndex, opened: &ScopeOpening, template: TemplateId, each: &Loop) {
        let items = opened.items.clone().unwrap_or_default();
        let length = if matches!(each.over, LoopOver::Repeat(_)) { 1 } else { items.len() };
        let at_once = each.concurrency.map_or(length, |most| length.min(most as usize));
        self.populate(
            id,
            ChildrenSpec {
                template,
                parallelism: None,
                progress: |_: &[TaskIndex]| ContainerProgress::Loop(LoopState { items, released: at_once }),
                length,
                place: |index| (Place::Iteration(template, count(index)), u32::from(index >= at_once)),
            },
        );
    }

    /// Gives a container its children.
    fn populate(
        &mut self,
        id: TaskIndex,
        opening: ChildrenSpec<impl FnOnce(&[TaskIndex]) -> ContainerProgress, impl Fn(usize) -> (Place, u32)>,
    ) {
        let ChildrenSpec { template, parallelism, progress, length, place } = opening;
        let mut scope = Scope::new(id, template, ContainerProgress::Dag, self[id].limit);
        scope.parallelism = parallelism;
        scope.open = count(length);
        scope.undispatched = scope.open;
        let scope = self.tables.add_scope(scope);
        self.tables[id].scope = Some(scope);
        self.tables.reserve(length);
        let mut children = Vec::with_capacity(length);
        for index in 0..length {
            let (place, unmet) = place(index);
            children.push(self.add_task(scope, place, unmet));
        }
        self.tables[scope].progress = progress(&children);
        self.tables[scope].children = children;
        for index in 0..length {
            if let Some(child) = self[scope].children.get(index).copied() {
                self.arrives(child);
            }
        }
    }

    /// Adds a task run to a scope.
    fn add_task(&mut self, scope: ScopeIndex, place: Place, unmet: u32) -> TaskIndex {
        let now = self.now;
        self.tables.add(|index, tables| {
            let around = &tables[scope];
            let mut task = TaskRun::new(index, place, now, tables.nothing());
            task.parent = Some(scope);
            task.depth = tables[around.owner].depth + 1;
            task.unmet = unmet;
            // The `parallelism` that children stand under first.
            task.limit = if around.parallelism.is_some() { Some(scope) } else { around.outer_limit };
            task
        })
    }

    /// Adds one more child that nothing holds back.
    pub(super) fn add_child(&mut self, scope: ScopeIndex, place: Place) -> TaskIndex {
        let child = self.add_task(scope, place, 0);
        self.tables[scope].add(child);
        self.arrives(child);
        child
    }

    /// A wrapper's next attempt: its call, afresh (R-R9).
    fn open_attempt(&mut self, id: TaskIndex, template: TemplateId) {
        self.dequeue(id);
        let wrapper = &mut self.tables[id];
        begin_attempt(wrapper);
        let (place, limit, known) = (Place::Attempt(template, wrapper.attempt), wrapper.limit, wrapper.scope);
        let scope = match known {
            Some(scope) => scope,
            None => self.tables.add_scope(Scope::new(id, template, ContainerProgress::Attempts, limit)),
        };
        self.tables[id].scope = Some(scope);
        self.add_child(scope, place);
    }

    pub(super) fn apply_repeated(&mut self, container: TaskId) -> ApplyResult {
        let id = self.existing(container)?;
        let open = self[id].scope.filter(|scope| matches!(self[*scope].progress, ContainerProgress::Loop(_)));
        let Some(scope) = open else { return Err(format!("task run {id} is not an open loop")) };
        let place = Place::Iteration(self[scope].template, count(self[scope].children.len()));
        self.add_child(scope, place);
        Ok(())
    }
}
