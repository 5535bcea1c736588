//! `hooks`: task templates run beside the phases (R-S12).

use crate::plan::HookType;

use super::{
    ExprDoc, ParametersDoc, Report,
    field::text,
    parameters::Use,
    walk::{Cursor, Name, Site},
};

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

const EVENTS: [(&str, HookType); 9] = [
    ("onStart", HookType::OnStart),
    ("onSuccess", HookType::OnSuccess),
    ("onFailure", HookType::OnFailure),
    ("onError", HookType::OnError),
    ("onTimeout", HookType::OnTimeout),
    ("onSuspend", HookType::OnSuspend),
    ("onResume", HookType::OnResume),
    ("onCancel", HookType::OnCancel),
    ("onExit", HookType::OnExit),
];

pub(super) fn read(cursor: &Cursor<'_>, report: &Report) -> Option<HooksDoc> {
    let mut object = cursor.object(report)?;
    let mut hooks = HooksDoc::new();
    for (event, kind) in EVENTS {
        hooks.extend(object.optional(event, |cursor, report| hook(kind, cursor, report)));
    }
    object.finish();
    Some(hooks)
}

fn hook(kind: HookType, cursor: &Cursor<'_>, report: &Report) -> Option<HookDoc> {
    let mut object = cursor.object(report)?;
    let hook = HookDoc {
        kind,
        site: cursor.site(),
        template: object.required("template", "the name of a task template", text),
        arguments: ParametersDoc::field(&mut object, "arguments", Use::Arguments),
        when: object.optional("when", ExprDoc::read),
    };
    object.finish();
    Some(hook)
}
