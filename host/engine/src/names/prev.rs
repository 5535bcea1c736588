//! `_prev`: the outputs of the pipeline's task that ended last.

use super::{PIPELINE, Root, tasks::named, walk};
use crate::value::Value;

pub(super) static PREV: Root = Root {
    name: "_prev",
    value: |run, path| {
        let previous = run.pipeline_progress().and_then(|progress| progress.previous);
        previous.map_or(Value::Null, |outputs| walk(&named(&outputs), path))
    },
    ..PIPELINE
};
