//! `spec`.

use std::sync::Arc;

use serde_json::json;

use crate::document::foreign;
use crate::{
    document::{
        Dialect, HooksDoc, ParametersDoc, TemplateDoc,
        functions::{FUNCTIONS, check_used},
        hooks::HOOKS,
        parameters::{INPUTS, PARAMETERS},
        template::TEMPLATE,
        timing::{RUN_TIMEOUT, RunTimeout},
    },
    expr::Functions,
    form::{
        AnyField as _, Cursor, Field, Form, Name, Object, Refusal, Report, Rule, TEXT, TEXTS, Table, When,
        whole,
    },
    path::Path,
    problem::codes::shape,
};

/// `spec`.
#[derive(Debug)]
pub(crate) struct SpecDoc {
    pub(crate) entrypoint: Option<Name>,
    pub(crate) arguments: ParametersDoc,
    /// Path of the parameters, or of the place for them.
    pub(crate) arguments_path: Path,
    pub(crate) timeout: RunTimeout,
    pub(crate) priority: u16,
    pub(crate) parallelism: Option<u32>,
    pub(crate) max_nested_depth: usize,
    pub(crate) templates: Vec<TemplateDoc>,
    /// Whether every template has a readable name; if not, nothing follows from a missing one.
    pub(crate) sound: bool,
    pub(crate) hooks: HooksDoc,
    pub(crate) notify: Vec<Name>,
}

pub(super) const SPEC_OF_WORKFLOW: Form<SpecDoc> = Form::new(SpecDoc::read, |defs| defs.object(&SPEC_TABLE));

static SPEC_TABLE: Table = Table::closed(
    "spec",
    "The definition of a workflow.",
    &[
        &ENTRYPOINT,
        &PARAMETERS_FIELD,
        &ARGUMENTS,
        &TIMEOUT,
        &PRIORITY,
        &PARALLELISM,
        &MAX_NESTED_DEPTH,
        &FUNCTIONS_FIELD,
        &TEMPLATES,
        &HOOKS_FIELD,
        &NOTIFY,
    ],
    &[
        Rule::Refused(Refusal {
            fields: &["parameters"],
            when: When::With("arguments"),
            entry: &shape::NOT_ALLOWED,
            why: "next to `arguments`; expected one of them",
            hint: "`spec.parameters` is the short form of `spec.arguments.parameters`",
        }),
        Rule::Stated(|defs| {
            if Dialect::of_schema(defs).short_forms {
                json!({})
            } else {
                json!({ "properties": { "parameters": false } })
            }
        }),
    ],
)
.knowing(foreign::SPEC);

static ENTRYPOINT: Field<Name> = Field::required(
    "entrypoint",
    "the name of a template",
    TEXT,
    "Name of the template that a run starts with: a dag, loop, pipeline or task.",
);

static PARAMETERS_FIELD: Field<ParametersDoc> = Field::optional(
    "parameters",
    PARAMETERS,
    "Parameters of the workflow under their names: `name: {type: …, default: …}`, or the default alone. As `arguments.parameters`; not \
     in `aether/v1`.",
);

static ARGUMENTS: Field<ParametersDoc> = Field::optional(
    "arguments",
    INPUTS,
    "Parameters of the workflow: given when it is run, seen as `workflow.parameters.x`, and by name as the entrypoint's inputs.",
);

static TIMEOUT: Field<RunTimeout> = Field::optional(
    "timeout",
    RUN_TIMEOUT,
    "How long a run may last from its submission; `none` is without limit, and `{active: 8h}` does not count time in which the run \
     only waits for people. Absent: no limit in `phasm/v1`, and `{active: 1h}` in `aether/v1`.",
)
.such_as(&["1h", "1d"]);

static PRIORITY: Field<u16> = Field::optional(
    "priority",
    whole::<u16, 0, 1000>(),
    "Which of several runs gets a free slot first: 0 to 1000, higher first.",
)
.or("500");

static PARALLELISM: Field<u32> = Field::optional(
    "parallelism",
    whole::<u32, 1, { u32::MAX as i64 }>().or_expression(),
    "Leaf task runs that may be Ready or Running at once; absent: no bound.",
);

static MAX_NESTED_DEPTH: Field<u8> = Field::optional(
    "maxNestedDepth",
    whole::<u8, 1, 10>(),
    "Levels of dags, loops, pipelines and wrappers that may lie around a task, 1 to 10.",
)
.or("3");

static FUNCTIONS_FIELD: Field<Arc<Functions>> = Field::optional(
    "functions",
    FUNCTIONS,
    "Rhai `fn` definitions that every expression of the workflow file may call; most readable as a block, `functions: |`.",
);

static TEMPLATES: Field<(Vec<TemplateDoc>, bool)> = Field::required(
    "templates",
    "a list of templates",
    Form::new(templates, |defs| json!({ "type": "array", "minItems": 1, "items": TEMPLATE.schema(defs) })),
    "The templates, at least one, each with a name of its own.",
);

static HOOKS_FIELD: Field<HooksDoc> =
    Field::optional("hooks", HOOKS, "Tasks that run when the whole run changes its phase.");

static NOTIFY: Field<Vec<Name>> = Field::optional(
    "notify",
    TEXTS,
    "Endpoints that are notified of its runs, in addition to those that are notified of all runs: names of `[notify]` of the \
     configuration.",
);

impl SpecDoc {
    fn read(cursor: &Cursor<'_>, report: &Report) -> Option<Self> {
        let object = cursor.object(&SPEC_TABLE, report)?;
        let dialect = Dialect::of(report);
        // Before every expression that may call them.
        let functions = object.optional(&FUNCTIONS_FIELD);
        functions.iter().for_each(|functions| report.provide(functions.clone()));
        let (templates, sound) = object.optional(&TEMPLATES).unwrap_or_default();
        let arguments = if object.has(PARAMETERS_FIELD.name()) {
            if !dialect.short_forms {
                dialect.refuse(&["parameters"], &["arguments: {parameters: […]}"], &object);
            }
            ParametersDoc::field(&object, &PARAMETERS_FIELD)
        } else {
            ParametersDoc::field(&object, &ARGUMENTS)
        };
        let spec = Self {
            entrypoint: object.optional(&ENTRYPOINT),
            arguments,
            arguments_path: arguments_path(&object, dialect),
            timeout: object.optional(&TIMEOUT).unwrap_or_else(|| RunTimeout::default_of(dialect)),
            priority: object.or_default(&PRIORITY),
            parallelism: object.optional(&PARALLELISM),
            max_nested_depth: object.or_default(&MAX_NESTED_DEPTH).into(),
            templates,
            sound,
            hooks: object.optional(&HOOKS_FIELD).unwrap_or_default(),
            notify: object.optional(&NOTIFY).unwrap_or_default(),
        };
        if let (Some(functions), Some(at)) = (functions, object.get(FUNCTIONS_FIELD.name())) {
            check_used(&functions, &at, report);
        }
        Some(spec)
    }
}

/// Returns where the parameters are written; without any, where the dialect has them.
fn arguments_path(object: &Object<'_, '_>, dialect: &Dialect) -> Path {
    let (short, long) = (PARAMETERS_FIELD.name(), ARGUMENTS.name());
    match object.get(long) {
        Some(arguments) if dialect.short_forms && arguments.is_object() && !arguments.has("parameters") => {
            arguments.path
        }
        Some(arguments) => arguments.path.key("parameters"),
        None if object.has(short) || dialect.short_forms => object.site.path.key(short),
        None => object.site.path.key(long).key("parameters"),
    }
}

impl SpecDoc {
    /// Returns the field that declares the parameters, as messages name it.
    pub(crate) fn declares(&self) -> &'static str {
        if self.arguments_path.ends_with(PARAMETERS_FIELD.name())
            && !self.arguments_path.is_in(ARGUMENTS.name())
        {
            "spec.parameters"
        } else {
            "spec.arguments"
        }
    }
}

fn templates(cursor: &Cursor<'_>, report: &Report) -> Option<(Vec<TemplateDoc>, bool)> {
    let items: Vec<_> = cursor.items(report)?.collect();
    if items.is_empty() {
        report.problem(cursor.problem(&shape::EMPTY, "empty list; expected at least one template"));
    }
    let list: Vec<_> = items.iter().filter_map(|item| TEMPLATE.read(item, report)).collect();
    let sound = !items.is_empty() && list.len() == items.len() && list.iter().all(|t| t.name.is_some());
    Some((list, sound))
}
