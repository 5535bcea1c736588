//! From a JSON Schema to something that checks values.

use jsonschema::{Draft, PatternOptions, Validator};
use phasm_sdk::prelude::*;

use crate::{Task, report};

/// Maximum size of a compiled pattern.
const MAX_PATTERN_BYTES: usize = 1 << 20;

inputs! {
    /// Version of JSON Schema.
    #[derive(Clone, Copy)]
    pub enum DraftName {
        /// Draft 4.
        Draft4 = "4",
        /// Draft 6.
        Draft6 = "6",
        /// Draft 7.
        Draft7 = "7",
        /// Draft 2019-09.
        Draft201909 = "2019-09",
        /// Draft 2020-12.
        Draft202012 = "2020-12",
    }
}

impl DraftName {
    fn draft(self) -> Draft {
        match self {
            Self::Draft4 => Draft::Draft4,
            Self::Draft6 => Draft::Draft6,
            Self::Draft7 => Draft::Draft7,
            Self::Draft201909 => Draft::Draft201909,
            Self::Draft202012 => Draft::Draft202012,
        }
    }
}

/// Code 3 for a schema that is none, with all that is wrong with it.
pub(crate) fn compile(task: &Task) -> Result<Validator> {
    let refused = |why: String| {
        Outcome::error(format!("input `schema` is no JSON Schema: {why}")).kind("schema").retryable(false)
    };
    let schema: Value = task.schema.parse().map_err(|why| refused(format!("{why}")))?;
    if !schema.is_object() && !schema.is_boolean() {
        return Err(refused("expected an object or a boolean".to_owned()));
    }
    // The schema's own `$schema` wins.
    let draft =
        if schema.get("$schema").is_some() { Draft::default().detect(&schema) } else { task.draft.draft() };
    if draft == Draft::Unknown {
        return Err(refused(
            "`$schema` names a draft that is not known; expected one of 4 to 2020-12".to_owned(),
        ));
    }
    let meta = if draft == Draft::Draft4 {
        jsonschema::draft4::meta::validator()
    } else if draft == Draft::Draft6 {
        jsonschema::draft6::meta::validator()
    } else if draft == Draft::Draft7 {
        jsonschema::draft7::meta::validator()
    } else if draft == Draft::Draft201909 {
        jsonschema::draft201909::meta::validator()
    } else {
        jsonschema::draft202012::meta::validator()
    };
    let faults = report::of(meta.iter_errors(&schema), 100);
    if faults.count > 0 {
        return Err(refused(faults.summary("the schema")));
    }
    jsonschema::options()
        .with_draft(draft)
        .should_validate_formats(task.formats)
        // The time of a pattern is linear in the text.
        .with_pattern_options(PatternOptions::regex().size_limit(MAX_PATTERN_BYTES))
        .offline()
        .build(&schema)
        .map_err(|why| refused(report::of(std::iter::once(why), 1).summary("the schema")))
}
