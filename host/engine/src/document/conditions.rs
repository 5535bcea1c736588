//! `phaseConditions` and `continueOn`.

use crate::plan::{Tolerance, catalogue::warnings};

use super::{ExprDoc, Report, field::boolean, walk::Cursor};

/// `phaseConditions`.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConditionsDoc {
    pub(crate) succeeded: Option<ExprDoc>,
    pub(crate) failed: Option<ExprDoc>,
    pub(crate) error: Option<ExprDoc>,
}

impl ConditionsDoc {
    pub(super) fn read(cursor: &Cursor<'_>, report: &Report) -> Option<Self> {
        let mut object = cursor.object(report)?;
        let conditions = Self {
            succeeded: object.optional("succeeded", ExprDoc::read),
            failed: object.optional("failed", ExprDoc::read),
            error: object.optional("error", ExprDoc::read),
        };
        for field in ["skipped", "cancelled"] {
            let _ = object.get(field);
            if let Some(site) = object.key_site(field) {
                let message = format!("`{field}` is ignored; expected `succeeded`, `failed` or `error`");
                let warning = site.problem(&warnings::IGNORED, message);
                report.warning(warning.with_hint("only the engine skips and cancels"));
            }
        }
        object.finish();
        Some(conditions)
    }

    pub(crate) fn expressions(&self) -> impl Iterator<Item = &ExprDoc> {
        [&self.succeeded, &self.failed, &self.error].into_iter().flatten()
    }
}

/// `continueOn`.
pub(super) fn tolerance(cursor: &Cursor<'_>, report: &Report) -> Option<Tolerance> {
    let mut object = cursor.object(report)?;
    let tolerance = Tolerance {
        failed: object.optional("failed", boolean).unwrap_or(false),
        error: object.optional("error", boolean).unwrap_or(false),
        timeout: object.optional("timeout", boolean).unwrap_or(false),
    };
    object.finish();
    Some(tolerance)
}
