//! Waits for a while, in one host call or several.

use std::{thread, time::Duration};

use phasm_sdk::{duration::Millis, prelude::*};

inputs! {
    /// How long to wait.
    pub struct Sleep {
        /// How long.
        duration: Millis,
        /// A heartbeat after every such interval, for tasks with `maxInactivity`.
        heartbeat: Option<Millis>,
    }
}

/// Waits, with a heartbeat after every `heartbeat`, and tells how long.
///
/// # Errors
///
/// A heartbeat every 0 ms: code 3.
pub fn sleep(call: Call<Sleep>) -> Result {
    let Sleep { duration, heartbeat: interval } = call.inputs;
    if interval == Some(Millis::default()) {
        let message = "input `heartbeat`: expected more than 0 milliseconds, got 0";
        return Err(Outcome::error(message).kind("input").retryable(false));
    }
    for nap in naps(duration.get(), interval.map(Millis::get)) {
        thread::sleep(Duration::from_millis(nap));
        if interval.is_some() {
            heartbeat();
        }
    }
    Ok(Outcome::succeeded().output("slept", duration.get()))
}

/// The whole, in pieces of at most `interval`.
fn naps(whole: u64, interval: Option<u64>) -> impl Iterator<Item = u64> {
    let mut rest = whole;
    std::iter::from_fn(move || {
        let nap = interval.map_or(rest, |interval| rest.min(interval));
        rest -= nap;
        (nap > 0).then_some(nap)
    })
}

executor!(sleep, {
    outputs: {
        /// The duration in milliseconds.
        slept: u64,
    },
    deterministic: true,
    examples: [
        { name: "sleeps a moment", inputs: { duration: "5ms" }, outputs: { slept: 5 } },
    ],
});

#[cfg(test)]
mod tests {
    use phasm_sdk::testing::{HostCall, Test, call};

    use super::*;

    #[test]
    fn the_whole_is_slept_in_pieces() {
        let rows: [(u64, Option<u64>, &[u64]); 5] = [
            (0, None, &[]),
            (7, None, &[7]),
            (7, Some(3), &[3, 3, 1]),
            (6, Some(3), &[3, 3]),
            (2, Some(9), &[2]),
        ];
        for (whole, interval, pieces) in rows {
            assert_eq!(naps(whole, interval).collect::<Vec<_>>(), pieces);
        }
    }

    #[test]
    fn it_tells_how_long_it_slept_and_that_it_lives() {
        let ran = Test::new().inputs(json!({ "duration": "2 ms", "heartbeat": 1 })).run(sleep);
        assert_eq!(ran.outcome, Outcome::succeeded().output("slept", 2));
        assert_eq!(ran.host, [HostCall::Heartbeat, HostCall::Heartbeat]);
        assert_eq!(call(sleep, json!({ "duration": 0 })), Outcome::succeeded().output("slept", 0));
    }

    #[test]
    fn the_duration_may_stand_in_the_config() {
        let ran = Test::new().config(json!({ "duration": "0s" })).run(sleep);
        assert_eq!(ran.outcome, Outcome::succeeded().output("slept", 0));
    }

    #[test]
    fn what_is_no_duration_is_refused() {
        for (inputs, message) in [
            (json!({}), "input `duration` is missing; expected a duration such as `1h 30m`, or milliseconds"),
            (
                json!({ "duration": "1h 30" }),
                "input `duration`: no duration: `30` has no unit; only a number standing alone is milliseconds \
                 (at byte 3)",
            ),
            (
                json!({ "duration": -5 }),
                "input `duration`: expected a duration such as `1h 30m`, or milliseconds, \
                                         got integer `-5`",
            ),
            (
                json!({ "duration": 1, "heartbeat": 0 }),
                "input `heartbeat`: expected more than 0 milliseconds, got 0",
            ),
        ] {
            let outcome = call(sleep, inputs);
            assert_eq!((outcome.code, outcome.message.as_str()), (ExecCode::Error, message));
        }
    }
}
