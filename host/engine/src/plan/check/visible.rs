//! The names an expression sees in its place.

use crate::{
    document::{KindDoc, LoopDoc, ParameterDoc, ParametersDoc, TaskDoc, TasksDoc, TemplateDoc, WorkflowDoc},
    form::Site,
    names::{self, ROOTS, Shape, Visibility},
    plan::{
        NodeIndex,
        resolve::{
            graph::Graph,
            index::{Callee, Index},
        },
        schema,
    },
    value::Value,
};

/// The names an expression sees.
#[derive(Clone)]
pub(super) struct Visible<'a> {
    pub(super) doc: &'a WorkflowDoc,
    /// Declared inputs, the nearest first; absent where there are none to see.
    pub(super) inputs: Option<Vec<&'a ParametersDoc>>,
    /// The task itself, by each of its names.
    pub(super) selves: Vec<(&'a str, OutputNames<'a>)>,
    pub(super) siblings: Siblings<'a>,
    /// The children of the container that a call is about.
    pub(super) children: Option<&'a TasksDoc>,
    /// Groups of visible names besides inputs and tasks.
    pub(super) sees: Visibility,
    /// The call through which the expression's template was reached.
    pub(super) via: Option<&'a Site>,
}

/// The other tasks that `tasks.<name>` may mean.
#[derive(Clone, Copy)]
pub(super) enum Siblings<'a> {
    /// None at all.
    None,
    /// The tasks that a dag's task waits for.
    Upstream { tasks: &'a TasksDoc, graph: &'a Graph, task: NodeIndex },
    /// Every task of a pipeline, also by its label alone, or every child of a container.
    All { tasks: &'a TasksDoc, labels: bool },
    /// Nothing is checked.
    Unknown,
}

/// The outputs that a task can have.
#[derive(Clone, Copy)]
pub(super) enum OutputNames<'a> {
    /// Whatever its executor returns.
    Any,
    /// The declared outputs.
    Declared(&'a ParametersDoc),
    /// The outputs in the executor's manifest: the schema of an object without further properties.
    Returned(&'a Value),
    /// A dag that declares none has none.
    None,
}

/// Why `tasks.<name>` means nothing.
pub(super) enum InvisibleTask {
    /// No such task; what there is instead, and who asks for what it depends on.
    Unknown(Vec<String>, Option<String>),
    /// The task is not upstream of the named one.
    NotUpstream(String),
    /// The task that asks: it has not run yet.
    Itself,
    /// With these entrypoints the task does not exist.
    Dropped,
    /// No tasks are visible here.
    NoTasks,
}

impl<'a> Visible<'a> {
    /// Returns the names that are visible everywhere: workflow, system, vars.
    pub(super) fn everywhere(doc: &'a WorkflowDoc) -> Self {
        Self {
            doc,
            inputs: None,
            selves: Vec::new(),
            siblings: Siblings::None,
            children: None,
            sees: Visibility::default(),
            via: None,
        }
    }

    /// Changes which groups of names are visible.
    pub(super) fn with(&self, change: impl FnOnce(&mut Visibility)) -> Self {
        let mut visible = self.clone();
        change(&mut visible.sees);
        visible
    }

    fn sees(&self) -> Visibility {
        let tasks = !self.selves.is_empty() || !matches!(self.siblings, Siblings::None);
        Visibility { inputs: self.inputs.is_some(), tasks, ..self.sees }
    }

    /// The shape of what `name` stands for, if it is visible.
    pub(super) fn root(&self, name: &str) -> Option<Shape> {
        match names::find(name) {
            Some(root) => (root.visible)(self.sees()).then_some(root.shape),
            None => self.siblings.has_label(name).then_some(Shape::Any),
        }
    }

    /// The names an expression may begin with here.
    pub(super) fn visible_roots(&self) -> impl Iterator<Item = &'static str> {
        let sees = self.sees();
        ROOTS.into_iter().filter(move |root| (root.visible)(sees)).map(|root| root.name)
    }

    /// The labels that mean a task of a pipeline here.
    pub(super) fn labels(&self) -> impl Iterator<Item = &'a str> {
        let tasks = match self.siblings {
            Siblings::All { tasks, labels: true } => Some(tasks),
            Siblings::None | Siblings::Upstream { .. } | Siblings::All { .. } | Siblings::Unknown => None,
        };
        tasks.into_iter().flat_map(TasksDoc::names)
    }

    /// The outputs of the task called `name` here.
    pub(super) fn task(&self, index: &Index<'a>, name: &str) -> Result<OutputNames<'a>, InvisibleTask> {
        if let Some((_, outputs)) = self.selves.iter().find(|(own, _)| *own == name) {
            return Ok(*outputs);
        }
        if let Some(Ok((_, outputs))) = self.children.map(|children| one_of(index, children, name)) {
            return Ok(outputs);
        }
        let found = self.siblings.find(index, name);
        if let Err(InvisibleTask::NoTasks) = found
            && !self.selves.is_empty()
        {
            let names = self.selves.iter().map(|(own, _)| (*own).to_owned()).collect();
            return Err(InvisibleTask::Unknown(names, None));
        }
        found
    }

    /// Whether a task of that name is known to be visible here.
    pub(super) fn has_certain_task(&self, name: &str) -> bool {
        let among = |tasks: &TasksDoc| tasks.position(name).is_some();
        self.selves.iter().any(|(own, _)| *own == name)
            || self.children.is_some_and(among)
            || match self.siblings {
                Siblings::Upstream { tasks, .. } | Siblings::All { tasks, .. } => among(tasks),
                Siblings::None | Siblings::Unknown => false,
            }
    }

    /// Whether an input of that name is declared here; unreadable declarations may declare anything.
    pub(super) fn has_input(&self, name: &str) -> bool {
        let lists = self.inputs.as_deref().unwrap_or_default();
        lists.iter().any(|list| !list.sound || list.find(name).is_some())
    }

    /// The nearest declaration of an input of that name; none where an unreadable one may be nearer.
    pub(super) fn input(&self, name: &str) -> Option<&'a ParameterDoc> {
        let lists = self.inputs.as_deref().unwrap_or_default();
        lists.iter().take_while(|list| list.sound).find_map(|list| list.find(name))
    }

    /// The declaration of the container's input of that name.
    pub(super) fn container_input(&self, name: &str) -> Option<&'a ParameterDoc> {
        self.inputs.as_deref()?.last().filter(|list| list.sound)?.find(name)
    }

    /// The names of the inputs declared here.
    pub(super) fn input_names(&self) -> impl Iterator<Item = &'a str> {
        self.inputs.as_deref().unwrap_or_default().iter().flat_map(|list| list.names())
    }
}

impl<'a> Siblings<'a> {
    fn has_label(&self, label: &str) -> bool {
        matches!(self, Self::All { tasks, labels: true } if !tasks.sound || tasks.position(label).is_some())
    }

    fn find(&self, index: &Index<'a>, name: &str) -> Result<OutputNames<'a>, InvisibleTask> {
        match self {
            Self::Unknown => Ok(OutputNames::Any),
            Self::None => Err(InvisibleTask::NoTasks),
            Self::All { tasks, .. } => one_of(index, tasks, name).map(|(_, outputs)| outputs),
            Self::Upstream { tasks, graph, task } => {
                let own = tasks.list.get(*task).and_then(|task| task.name.as_ref());
                let own = own.map(|name| name.value.to_string()).unwrap_or_default();
                let (position, outputs) = match one_of(index, tasks, name) {
                    Err(InvisibleTask::Unknown(names, _)) => {
                        return Err(InvisibleTask::Unknown(names, Some(own)));
                    }
                    found => found?,
                };
                if position == *task {
                    return Err(InvisibleTask::Itself);
                }
                if graph.is_upstream(position, *task) || !graph.is_certain(*task) {
                    return Ok(outputs);
                }
                if graph.is_kept(*task) && !graph.is_kept(position) {
                    return Err(InvisibleTask::Dropped);
                }
                Err(InvisibleTask::NotUpstream(own))
            }
        }
    }
}

fn one_of<'a>(
    index: &Index<'a>,
    tasks: &'a TasksDoc,
    name: &str,
) -> Result<(NodeIndex, OutputNames<'a>), InvisibleTask> {
    let found = tasks.position(name).and_then(|position| Some((position, tasks.list.get(position)?)));
    match found {
        Some((position, task)) => Ok((position, outputs_of(index, task))),
        None if !tasks.sound => Ok((NodeIndex::MAX, OutputNames::Any)),
        None => Err(InvisibleTask::Unknown(tasks.names().map(str::to_owned).collect(), None)),
    }
}

/// The outputs that a task can have (R-B6, R-B7).
pub(super) fn outputs_of<'a>(index: &Index<'a>, task: &'a TaskDoc) -> OutputNames<'a> {
    match index.callee(task) {
        Callee::Inline | Callee::Unknown => declared(&task.outputs, || returned_by_task(index, task)),
        callee @ (Callee::Leaf(..) | Callee::Wrapper(..) | Callee::Container(..)) => {
            callee.template().map_or(OutputNames::Any, |(_, template)| outputs_of_template(index, template))
        }
    }
}

/// The outputs that a call of the template can have.
pub(super) fn outputs_of_template<'a>(index: &Index<'a>, template: &'a TemplateDoc) -> OutputNames<'a> {
    if !template.outputs.list.is_empty() || !template.outputs.sound {
        return declared(&template.outputs, || OutputNames::Any);
    }
    match &template.kind {
        KindDoc::Dag(_) => OutputNames::None,
        KindDoc::Loop(read) => outputs_of_body(index, read),
        // A pipeline has the outputs of its last task, and a jump may lead to any of them.
        KindDoc::Pipeline(_) => OutputNames::Any,
        KindDoc::Task(task) => match index.wrapped(template) {
            Some((_, wrapped)) if matches!(wrapped.kind, KindDoc::Dag(_)) => {
                outputs_of_template(index, wrapped)
            }
            Some(_) => OutputNames::Any,
            None => returned_by_task(index, task),
        },
    }
}

/// Returns the outputs that a loop can aggregate (R-B7), as far as its body names them itself: a body may lead to the loop again.
fn outputs_of_body<'a>(index: &Index<'a>, read: &LoopDoc) -> OutputNames<'a> {
    let Some((_, body)) = read.body.as_ref().and_then(|name| index.find(name)) else {
        return OutputNames::Any;
    };
    let returned = || match (&body.kind, index.wrapped(body)) {
        (KindDoc::Task(task), None) => returned_by_task(index, task),
        _ => OutputNames::Any,
    };
    declared(&body.outputs, returned)
}

/// Returns the outputs that an attempt of the template can return, before its declared outputs pick from them (R-B6).
pub(super) fn returned_by<'a>(index: &Index<'a>, template: &'a TemplateDoc) -> OutputNames<'a> {
    match (index.wrapped(template), &template.kind) {
        (Some((_, wrapped)), _) => outputs_of_template(index, wrapped),
        (None, KindDoc::Task(task)) => returned_by_task(index, task),
        (None, KindDoc::Dag(_) | KindDoc::Loop(_) | KindDoc::Pipeline(_)) => OutputNames::Any,
    }
}

/// Returns the outputs that the executor of a task returns by its manifest.
pub(super) fn returned_by_task<'a>(index: &Index<'a>, task: &TaskDoc) -> OutputNames<'a> {
    let pinned = task.executor().and_then(|executor| index.executors.get(&executor.kind.value));
    let outputs = pinned.map(|pinned| &pinned.outputs).filter(|outputs| schema::is_closed(outputs));
    outputs.map_or(OutputNames::Any, OutputNames::Returned)
}

fn declared<'a>(outputs: &'a ParametersDoc, otherwise: impl FnOnce() -> OutputNames<'a>) -> OutputNames<'a> {
    if !outputs.sound {
        OutputNames::Any
    } else if outputs.list.is_empty() {
        otherwise()
    } else {
        OutputNames::Declared(outputs)
    }
}
