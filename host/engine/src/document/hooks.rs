//! `hooks`: task templates run beside the phases.

use crate::{
    form::{Field, Form, Name, Site, TEXT, Table},
    settings::HookType,
};

use super::{ExprDoc, ParametersDoc, expression::CONDITION, parameters::ARGUMENTS};

/// One hook.
#[derive(Clone, Debug)]
pub(crate) struct HookDoc {
    pub(crate) kind: HookType,
    pub(crate) site: Site,
    pub(crate) template: Option<Name>,
    pub(crate) arguments: ParametersDoc,
    pub(crate) when: Option<ExprDoc>,
}

/// `hooks`, in the order of [`HookType`].
pub(crate) type HooksDoc = Vec<HookDoc>;

pub(super) const HOOKS: Form<HooksDoc> = Form::new(
    |cursor, report| {
        let object = cursor.object(&HOOKS_TABLE, report)?;
        let hook = |(field, kind): &(&Field<HookBody>, _)| Some(object.optional(field)?.on(*kind));
        Some(EVENTS.iter().filter_map(hook).collect())
    },
    |defs| defs.object(&HOOKS_TABLE),
);

static HOOKS_TABLE: Table = Table::closed(
    "hooks",
    "Task templates that run when a task or run changes its phase; their results change nothing.",
    &[
        &ON_START,
        &ON_SUCCESS,
        &ON_FAILURE,
        &ON_ERROR,
        &ON_TIMEOUT,
        &ON_SUSPEND,
        &ON_RESUME,
        &ON_CANCEL,
        &ON_EXIT,
    ],
    &[],
);

static EVENTS: [(&Field<HookBody>, HookType); 9] = [
    (&ON_START, HookType::OnStart),
    (&ON_SUCCESS, HookType::OnSuccess),
    (&ON_FAILURE, HookType::OnFailure),
    (&ON_ERROR, HookType::OnError),
    (&ON_TIMEOUT, HookType::OnTimeout),
    (&ON_SUSPEND, HookType::OnSuspend),
    (&ON_RESUME, HookType::OnResume),
    (&ON_CANCEL, HookType::OnCancel),
    (&ON_EXIT, HookType::OnExit),
];

const fn event(name: &'static str, about: &'static str) -> Field<HookBody> {
    Field::optional(name, HOOK, about)
}

static ON_START: Field<HookBody> = event("onStart", "Runs when it starts Running, once.");
static ON_SUCCESS: Field<HookBody> = event("onSuccess", "Runs when it has ended Succeeded.");
static ON_FAILURE: Field<HookBody> = event("onFailure", "Runs when it has ended Failed.");
static ON_ERROR: Field<HookBody> =
    event("onError", "Runs when it has ended Error, and after a timeout where there is no `onTimeout`.");
static ON_TIMEOUT: Field<HookBody> =
    event("onTimeout", "Runs when it has ended Timeout, or Cancelled or Error by a clock of a task.");
static ON_SUSPEND: Field<HookBody> = event("onSuspend", "Runs whenever it is Suspended.");
static ON_RESUME: Field<HookBody> = event("onResume", "Runs whenever it is resumed.");
static ON_CANCEL: Field<HookBody> = event("onCancel", "Runs when it has ended Cancelled.");
static ON_EXIT: Field<HookBody> = event("onExit", "Runs after any end, after the other hooks.");

/// A hook, whatever its event.
struct HookBody {
    site: Site,
    template: Option<Name>,
    arguments: ParametersDoc,
    when: Option<ExprDoc>,
}

impl HookBody {
    fn on(self, kind: HookType) -> HookDoc {
        let Self { site, template, arguments, when } = self;
        HookDoc { kind, site, template, arguments, when }
    }
}

const HOOK: Form<HookBody> = Form::new(
    |cursor, report| {
        let object = cursor.object(&HOOK_TABLE, report)?;
        Some(HookBody {
            site: cursor.site(),
            template: object.optional(&TEMPLATE),
            arguments: ParametersDoc::field(&object, &HOOK_ARGUMENTS),
            when: object.optional(&WHEN),
        })
    },
    |defs| defs.object(&HOOK_TABLE),
);

static HOOK_TABLE: Table = Table::closed(
    "hook",
    "A call of a task template on an event.",
    &[&TEMPLATE, &HOOK_ARGUMENTS, &WHEN],
    &[],
);

static TEMPLATE: Field<Name> = Field::required(
    "template",
    "the name of a task template",
    TEXT,
    "Name of the task template to run; it has an executor.",
);

static HOOK_ARGUMENTS: Field<ParametersDoc> = Field::optional(
    "arguments",
    ARGUMENTS,
    "Its arguments; expressions see `hook.type`, `hook.workflow` and `hook.task`.",
);

static WHEN: Field<ExprDoc> =
    Field::optional("when", CONDITION, "The hook runs only where this is true; it sees `hook`, too.");
