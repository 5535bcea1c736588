//! An entry of `spec.templates`: exactly one of task, dag, loop and pipeline.

use super::{
    DagDoc, LoopDoc, ParametersDoc, Report, SettingsDoc, TaskDoc,
    dag::{children_tolerance, container_settings, declarations},
    field::name,
    pipeline::PipelineDoc,
    task::Place,
    walk::{Cursor, Name, Object, Site},
};
use crate::plan::{Tolerance, catalogue::names::CONTAINER_CALL};

/// A template.
#[derive(Clone, Debug)]
pub(crate) struct TemplateDoc {
    pub(crate) site: Site,
    pub(crate) name: Option<Name>,
    pub(crate) inputs: ParametersDoc,
    pub(crate) outputs: ParametersDoc,
    pub(crate) settings: SettingsDoc,
    /// `continueOn` of a dag or loop, which speaks of the children.
    pub(crate) children: Option<Tolerance>,
    pub(crate) kind: KindDoc,
}

/// The four kinds.
#[derive(Clone, Debug)]
pub(crate) enum KindDoc {
    Task(Box<TaskDoc>),
    Dag(DagDoc),
    Loop(Box<LoopDoc>),
    Pipeline(PipelineDoc),
}

impl KindDoc {
    pub(crate) fn as_str(&self) -> &'static str {
        match self {
            Self::Task(_) => "task",
            Self::Dag(_) => "dag",
            Self::Loop(_) => "loop",
            Self::Pipeline(_) => "pipeline",
        }
    }
}

/// Settings that only what is attempted as a whole can have (R-R9).
fn refuse_settings(object: &mut Object<'_, '_>, kind: &KindDoc, name: Option<&Name>) {
    let kind = kind.as_str();
    let why = format!("in a {kind}; expected it on its tasks, or on a task that wraps the {kind}");
    let name = name.map_or("…", |name| &*name.value);
    let wrap = format!(
        "to apply it to the whole {kind}, wrap it: a task template with `template: {name}`, and call that instead"
    );
    object.refuse(&["retry", "policy", "maxRuntime", "deadline"], &CONTAINER_CALL, &why, &wrap);
    object.refuse(&["maxInactivity", "resources"], &CONTAINER_CALL, &why, TASKS_INSIDE);
    object.refuse(
        &["hooks"],
        &CONTAINER_CALL,
        &why,
        "write it where the template is called, or as `spec.hooks`",
    );
}

/// The hint for fields that only a task with an executor can have.
pub(crate) const TASKS_INSIDE: &str = "write it on the tasks inside";

impl TemplateDoc {
    pub(super) fn read(cursor: &Cursor<'_>, report: &Report) -> Option<Self> {
        let mut object = cursor.object(report)?;
        let kind = object.exactly_one(&["task", "dag", "loop", "pipeline"]);
        let template = match kind {
            Some("task") => object.optional("task", Self::task),
            Some("dag") => object.optional("dag", |cursor, report| {
                Self::container(cursor, report, |object| {
                    (KindDoc::Dag(DagDoc::read(object)), children_tolerance(object))
                })
            }),
            Some("loop") => object.optional("loop", |cursor, report| {
                Self::container(cursor, report, |object| {
                    let read = LoopDoc::read(object);
                    let children = read.continue_on;
                    (KindDoc::Loop(Box::new(read)), children)
                })
            }),
            Some(_) => object.optional("pipeline", |cursor, report| {
                Self::container(cursor, report, |object| (KindDoc::Pipeline(PipelineDoc::read(object)), None))
            }),
            None => None,
        };
        object.finish();
        template
    }

    fn task(cursor: &Cursor<'_>, report: &Report) -> Option<Self> {
        let task = TaskDoc::read(Place::Template, cursor, report)?;
        Some(Self {
            site: task.site.clone(),
            name: task.name.clone(),
            inputs: task.inputs.clone(),
            outputs: task.outputs.clone(),
            settings: task.settings.clone(),
            children: None,
            kind: KindDoc::Task(Box::new(task)),
        })
    }

    fn container(
        cursor: &Cursor<'_>,
        report: &Report,
        read: impl FnOnce(&mut Object<'_, '_>) -> (KindDoc, Option<Tolerance>),
    ) -> Option<Self> {
        let mut object = cursor.object(report)?;
        let name = object.required("name", "the template's name", name);
        let (inputs, outputs) = declarations(&mut object);
        let (kind, children) = read(&mut object);
        refuse_settings(&mut object, &kind, name.as_ref());
        let settings = container_settings(&mut object);
        object.finish();
        Some(Self { site: cursor.site(), name, inputs, outputs, settings, children, kind })
    }
}
