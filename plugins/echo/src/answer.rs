//! The code, the message, the outputs and the detail.

use phasm_sdk::{inputs::Object, prelude::*};

use crate::{
    controls::{Controls, Response},
    outputs,
};

/// Returns the outcome of attempt number `attempt`.
pub(crate) fn answer(
    controls: Controls,
    mut echoed: Vec<(String, Json)>,
    attempt: u32,
    resumed: bool,
) -> Outcome {
    outputs::declare(&mut echoed, controls.outputs.0);
    let fail_count = controls.fail_count.or(controls.fail_count_camel).map_or(0, |count| count.0);
    let (code, mut message) = if controls.suspend.0 && !resumed {
        (ExecCode::Suspended, String::new())
    } else if attempt <= fail_count {
        (ExecCode::Failed, format!("attempt {attempt} of {fail_count} that fail"))
    } else if let Some(response) = nth(controls.returns.0, attempt) {
        return respond(response, echoed);
    } else {
        (controls.code.0.into(), String::new())
    };
    if let Some(given) = controls.message {
        message = given;
    }
    Outcome { code, message, outputs: echoed, detail: controls.detail.0 }
}

/// The entry for this attempt; the last one repeats.
fn nth(mut returns: Vec<Object<Response>>, attempt: u32) -> Option<Response> {
    let index = usize::try_from(attempt).unwrap_or(usize::MAX).saturating_sub(1);
    let last = returns.len().checked_sub(1)?;
    Some(returns.swap_remove(index.min(last)).0)
}

fn respond(response: Response, mut outputs: Vec<(String, Json)>) -> Outcome {
    for (name, value) in response.outputs.0 {
        outputs::set(&mut outputs, name, value);
    }
    Outcome { code: response.code.0.into(), message: response.message, outputs, detail: response.detail }
}
