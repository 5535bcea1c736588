//! An entry of `spec.templates`: exactly one of task, dag, loop and pipeline.

use super::foreign;
use crate::{
    form::{Cursor, Field, Form, Name, Object, Report, Rule, Site, Table},
    problem::codes::names::CONTAINER_CALL,
    settings::Tolerance,
};

use super::{
    DagDoc, LoopDoc, ParametersDoc, SettingsDoc, TaskDoc,
    container::{CHILDREN_TOLERANCE, CONTAINER_INPUTS, CONTAINER_NAME, CONTAINER_OUTPUTS},
    dag::{DAG, container_settings},
    loops::LOOP,
    pipeline::{PIPELINE, PipelineDoc},
    task::TASK_TEMPLATE,
};

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

fn refuse_settings(object: &Object<'_, '_>, kind: &KindDoc, name: Option<&Name>) {
    let kind = kind.as_str();
    let why = format!("in a {kind}; expected it on its tasks, or on a task that wraps the {kind}");
    let name = name.map_or("…", |name| &*name.value);
    let wrap = format!(
        "to apply it to the whole {kind}, wrap it: a task template with `template: {name}`, and call that instead"
    );
    object.refuse(&["retry", "policy", "maxRuntime", "deadline"], &CONTAINER_CALL, &why, &wrap);
    object.refuse(&["maxInactivity", "resources"], &CONTAINER_CALL, &why, TASKS_INSIDE);
    let call = "write it where the template is called, or as `spec.hooks`";
    object.refuse(&["hooks"], &CONTAINER_CALL, &why, call);
}

/// The hint for fields that only a task with an executor can have.
pub(crate) const TASKS_INSIDE: &str = "write it on the tasks inside";

pub(super) const TEMPLATE: Form<TemplateDoc> =
    Form::new(TemplateDoc::read, |defs| defs.object(&TEMPLATE_TABLE));

const KINDS: &[&str] = &["task", "dag", "loop", "pipeline"];

static TEMPLATE_TABLE: Table = Table::closed(
    "template",
    "A template that can be called by its name: exactly one of task, dag, loop and pipeline.",
    &[&TASK_FIELD, &DAG_FIELD, &LOOP_FIELD, &PIPELINE_FIELD],
    &[Rule::ExactlyOne(KINDS)],
)
.knowing(foreign::TEMPLATE);

static TASK_FIELD: Field<TemplateDoc> = Field::optional(
    "task",
    Form::new(TemplateDoc::task, |defs| TASK_TEMPLATE.schema(defs)),
    "One piece of work, or a wrapper around a dag, loop or pipeline.",
);

static DAG_FIELD: Field<TemplateDoc> = Field::optional(
    "dag",
    Form::new(
        |cursor, report| {
            let object = cursor.object(&DAG, report)?;
            Some(TemplateDoc::container(&object, KindDoc::Dag(DagDoc::read(&object))))
        },
        |defs| defs.object(&DAG),
    ),
    "Tasks with dependencies.",
);

static LOOP_FIELD: Field<TemplateDoc> = Field::optional(
    "loop",
    Form::new(
        |cursor, report| {
            let object = cursor.object(&LOOP, report)?;
            Some(TemplateDoc::container(&object, KindDoc::Loop(Box::new(LoopDoc::read(&object)))))
        },
        |defs| defs.object(&LOOP),
    ),
    "One template, many times.",
);

static PIPELINE_FIELD: Field<TemplateDoc> = Field::optional(
    "pipeline",
    Form::new(
        |cursor, report| {
            let object = cursor.object(&PIPELINE, report)?;
            Some(TemplateDoc::container(&object, KindDoc::Pipeline(PipelineDoc::read(&object))))
        },
        |defs| defs.object(&PIPELINE),
    ),
    "Tasks in order, with rules that repeat, jump and end.",
);

impl TemplateDoc {
    fn read(cursor: &Cursor<'_>, report: &Report) -> Option<Self> {
        let object = cursor.object(&TEMPLATE_TABLE, report)?;
        object.only(KINDS)?;
        let kinds = [&TASK_FIELD, &DAG_FIELD, &LOOP_FIELD, &PIPELINE_FIELD];
        kinds.into_iter().find_map(|kind| object.optional(kind))
    }

    fn task(cursor: &Cursor<'_>, report: &Report) -> Option<Self> {
        let task = TASK_TEMPLATE.read(cursor, report)?;
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

    fn container(object: &Object<'_, '_>, kind: KindDoc) -> Self {
        let children = match &kind {
            KindDoc::Dag(_) => object.optional(&CHILDREN_TOLERANCE),
            KindDoc::Loop(read) => read.continue_on,
            KindDoc::Task(_) | KindDoc::Pipeline(_) => None,
        };
        let name = object.optional(&CONTAINER_NAME);
        refuse_settings(object, &kind, name.as_ref());
        Self {
            site: object.site.clone(),
            name,
            inputs: ParametersDoc::field(object, &CONTAINER_INPUTS),
            outputs: ParametersDoc::field(object, &CONTAINER_OUTPUTS),
            settings: container_settings(object),
            children,
            kind,
        }
    }
}
