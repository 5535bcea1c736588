//! The reference test executor: returns its inputs, or answers as it is told.
//!
//! The order: sleep, misbehave, suspend, fail the first attempts, then `returns` or `code`. The README has every key.

mod answer;
mod controls;
mod lines;
mod misbehave;
mod outputs;

use controls::Controls;
use phasm_sdk::{FromInputs, duration::Millis, prelude::*};

/// Answers as the controls say, with every other input as an output.
///
/// # Errors
///
/// Controls that do not fit: code 3.
pub fn echo(call: Call) -> Result {
    let Call { inputs, config, attempt, resumed, .. } = call;
    let (controls, echoed): (Vec<_>, Vec<_>) =
        inputs.into_iter().partition(|(name, _)| controls::is_control(name));
    if controls.is_empty() && config.as_str() == "{}" {
        return Ok(Outcome { outputs: echoed, ..Outcome::succeeded() });
    }
    let heeded = controls.into_iter().filter(|(name, _)| Controls::INPUTS.contains(&name.as_str())).collect();
    let controls = Controls::from_inputs(heeded, &config)?;
    if controls.sleep > Millis::default() {
        std::thread::sleep(controls.sleep.into());
    }
    let _held = misbehave::misbehave(&controls);
    Ok(answer::answer(controls, echoed, attempt, resumed))
}

executor!(echo, {
    inputs: Controls,
    // Every other input is one.
    outputs: { .. },
    deterministic: true,
    examples: [
        { name: "returns its inputs", inputs: { a: 1 }, outputs: { a: 1 } },
        { name: "returns a code", inputs: { a: 1 }, settings: { code: 2 }, code: 2 },
    ],
});

#[cfg(test)]
mod tests;
