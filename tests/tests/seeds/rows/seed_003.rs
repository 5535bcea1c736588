//! Seed 003, Steep: timeouts, retries, durations.

use phasm_engine::{
    duration::parse,
    event::{Dispatch, Input, Reason},
    outcome::Outcome,
    phase::Phase,
    plan::{Backoff, Expiry, Growth, MaxAttempts, Recovery, RetryFilter, TemplateKind, TimeoutPolicy},
    time::{Millis, Timestamp},
    value::Map,
};
use phasm_tests::{
    small::{self, Answers},
    world::{Act, Script, World},
};
use serde_json::{Value as Json, json};

use super::{always, end, ended_at, run_one};

const MINUTE: Millis = 60_000;
const HOUR: Millis = 60 * MINUTE;

/// The settings of a task with these fields.
fn with_settings<T>(fields: &Json, look: impl FnOnce(&phasm_engine::plan::Settings) -> T) -> T {
    let mut task = json!({ "name": "t", "template": "work" });
    for (key, value) in fields.as_object().unwrap() {
        task[key] = value.clone();
    }
    let plan = small::dag(&[task]).unwrap_or_else(|problems| panic!("{problems:#?}"));
    let main = plan.templates.iter().find(|template| template.name.as_ref() == "main").unwrap();
    let TemplateKind::Dag(dag) = &main.kind else { panic!("no dag") };
    look(&dag.nodes[0].settings)
}

/// "A timeout policy is either a string or an object", and its table of properties; R-T1 adds integers.
#[test]
fn timeout_policies() {
    let policy =
        |timeout, error_on_timeout| Some(TimeoutPolicy { timeout, expiry: Expiry::of(error_on_timeout) });
    let rows = [
        (json!("5m"), policy(5 * MINUTE, false)),
        (json!({ "timeout": "1h" }), policy(HOUR, false)),
        (json!({ "timeout": "1h", "errorOnTimeout": false }), policy(HOUR, false)),
        (json!({ "timeout": "1h", "errorOnTimeout": true }), policy(HOUR, true)),
        (json!(1500), policy(1500, false)),
        (json!({ "timeout": 1500 }), policy(1500, false)),
    ];
    for (written, expected) in rows {
        for field in ["maxInactivity", "maxRuntime", "deadline"] {
            with_settings(&json!({ field: written }), |settings| {
                let found = [
                    ("maxInactivity", settings.max_inactivity),
                    ("maxRuntime", settings.max_runtime),
                    ("deadline", settings.deadline),
                ];
                for (name, found) in found {
                    assert_eq!(found, expected.filter(|_| name == field), "{field}: {written}");
                }
            });
        }
    }
}

/// Hangs until it is stopped.
struct Hangs;

impl Script for Hangs {
    fn act(&mut self, _path: &str, _dispatch: &Dispatch) -> Act {
        Act { start_after: 0, takes: None, outcome: Outcome::default() }
    }
}

/// "true if an execution that is aborted due to a timeout should lead to an error … By default, the execution will be
/// cancelled." (R-T4)
#[test]
fn error_on_timeout() {
    let rows = [("maxRuntime", Reason::MaxRuntime), ("deadline", Reason::Deadline)];
    for (field, reason) in rows {
        let ends = [
            (json!("10m"), Phase::Cancelled, Reason::TimeoutPolicy),
            (json!({ "timeout": "10m" }), Phase::Cancelled, Reason::TimeoutPolicy),
            (json!({ "timeout": "10m", "errorOnTimeout": true }), Phase::Error, reason),
        ];
        for (policy, phase, reason) in ends {
            let world = run_one(&json!({ field: policy }), Hangs);
            assert_eq!(end(&world, "t"), (phase, Some(reason), 1), "{field}: {policy}");
            assert_eq!((world.run.phase(), ended_at(&world)), (phase, 10 * MINUTE));
        }
    }
}

/// "a service may be cancelled after 5 minutes of inactivity and aborted with an error if its total execution takes longer
/// than 1 hour", whichever comes first.
#[test]
fn combined_policies() {
    let rows = [
        (Some(5 * MINUTE), Phase::Cancelled, Reason::TimeoutPolicy, 5 * MINUTE),
        (Some(59 * MINUTE), Phase::Cancelled, Reason::TimeoutPolicy, 59 * MINUTE),
        (None, Phase::Error, Reason::Deadline, HOUR),
    ];
    for (inactive_at, phase, reason, at) in rows {
        let task = json!({
            "name": "t", "template": "work", "maxInactivity": "5m", "deadline": { "timeout": "1h", "errorOnTimeout": true }
        });
        let mut world = World::submit(small::dag(&[task]).unwrap(), Map::new(), 1, Hangs, false);
        let fence = world.dispatched[0].fence;
        assert_eq!(world.dispatched[0].max_inactivity, Some(5 * MINUTE), "the dispatcher keeps that clock");
        if let Some(at) = inactive_at {
            world.at(Timestamp(i64::try_from(at).unwrap()), Input::Inactive(fence));
        }
        world.finish();
        assert_eq!((end(&world, "t"), ended_at(&world)), ((phase, Some(reason), 1), at));
    }
}

/// The table of retry properties: maxAttempts.
#[test]
fn max_attempts() {
    let ends = |retry: Json| {
        let world = run_one(&json!({ "retry": retry }), always(2));
        end(&world, "t")
    };
    assert_eq!(ends(json!({})), (Phase::Failed, None, 1), "the default value is 1");
    assert_eq!(ends(json!({ "maxAttempts": 1 })), (Phase::Failed, None, 1));
    let exhausted = Some(Reason::RetryExhausted);
    assert_eq!(
        ends(json!({ "maxAttempts": 3 })),
        (Phase::Failed, exhausted, 3),
        "1 initial attempt and 2 retries"
    );
    let never = (Phase::Skipped, Some(Reason::MaxAttempts0), 0);
    assert_eq!(ends(json!({ "maxAttempts": 0 })), never, "no attempt at all, it will be skipped");
    let codes = std::iter::repeat_n(2, 500).chain([0]);
    let world = run_one(&json!({ "retry": { "maxAttempts": -1 } }), Answers::codes(codes));
    assert_eq!(end(&world, "t"), (Phase::Succeeded, None, 501), "-1 means unlimited");
}

/// The table of retry properties: the default of each field, and what each is read as.
#[test]
fn retry_fields() {
    let limited = MaxAttempts::Limited;
    let backoff = |delay, factor, max_delay| Backoff { delay, growth: Growth::Factor(factor), max_delay };
    let rows = [
        (json!({}), limited(1), backoff(0, 1.0, None)),
        (json!({ "maxAttempts": 3 }), limited(3), backoff(0, 1.0, None)),
        (json!({ "maxAttempts": -1, "delay": "5s" }), MaxAttempts::Unlimited, backoff(5000, 1.0, None)),
        (json!({ "maxAttempts": 2, "delay": "0" }), limited(2), backoff(0, 1.0, None)),
        (
            json!({ "maxAttempts": 2, "delay": "1s", "exponentialBackoff": 1.5 }),
            limited(2),
            backoff(1000, 1.5, None),
        ),
        (
            json!({ "maxAttempts": 5, "delay": "1s", "exponentialBackoff": 2, "maxDelay": "10s" }),
            limited(5),
            backoff(1000, 2.0, Some(10_000)),
        ),
    ];
    for (retry, max_attempts, expected) in rows {
        with_settings(&json!({ "retry": retry }), |settings| {
            let Some(Recovery::Retry(policy)) = &settings.recovery else { panic!("no retry") };
            assert_eq!((policy.max_attempts, policy.backoff), (max_attempts, expected), "{retry}");
            let steep =
                retry.get("maxAttempts").is_none() || matches!(policy.filter, RetryFilter::AnyFailure);
            assert!(steep, "Failed, Error and Timeout: {retry}");
        });
    }
}

/// "actualDelay = min(delay * pow(exponentialBackoff, nAttempt - 1), maxDelay)", the six worked lines and what the table
/// says of the other fields (R-R3).
#[test]
fn delays() {
    let rows: [(Json, &[Millis]); 7] = [
        // "For example, if delay equals 1s, exponentialBackoff equals 2, and maxDelay equals 10s".
        (
            json!({ "maxAttempts": 7, "delay": "1s", "exponentialBackoff": 2, "maxDelay": "10s" }),
            &[1000, 2000, 4000, 8000, 10_000, 10_000],
        ),
        // The example block: five attempts, four delays.
        (
            json!({ "maxAttempts": 5, "delay": "1s", "exponentialBackoff": 2, "maxDelay": "10s" }),
            &[1000, 2000, 4000, 8000],
        ),
        // "The default is 0, which means the operation will be retried immediately."
        (json!({ "maxAttempts": 3 }), &[0, 0]),
        // "The default value is 1, which means there is no backoff and the actual delay always equals the specified one."
        (json!({ "maxAttempts": 4, "delay": "3s" }), &[3000, 3000, 3000]),
        // maxDelay "Only applies if exponentialBackoff is larger than 1."
        (json!({ "maxAttempts": 3, "delay": "3s", "maxDelay": "1s" }), &[3000, 3000]),
        (
            json!({ "maxAttempts": 4, "delay": "4s", "exponentialBackoff": 0.5, "maxDelay": "1s" }),
            &[4000, 2000, 1000],
        ),
        // "By default, there is no upper limit."
        (
            json!({ "maxAttempts": 5, "delay": "1h", "exponentialBackoff": 10 }),
            &[HOUR, 10 * HOUR, 100 * HOUR, 1000 * HOUR],
        ),
    ];
    for (retry, expected) in rows {
        let world = run_one(&json!({ "retry": retry }), always(2));
        assert_eq!(world.delays(), expected, "{retry}");
    }
}

/// "Supported units are", every spelling (R-U2).
#[test]
fn units() {
    let rows = [
        (["milliseconds", "millisecond", "millis", "milli", "ms"].as_slice(), 1),
        (&["seconds", "second", "secs", "sec", "s"], 1000),
        (&["minutes", "minute", "mins", "min", "m"], MINUTE),
        (&["hours", "hour", "hrs", "hr", "h"], HOUR),
        (&["days", "day", "d"], 24 * HOUR),
    ];
    for (spellings, length) in rows {
        for unit in spellings {
            assert_eq!(parse(&format!("1{unit}")), Ok(length), "{unit}");
            assert_eq!(parse(&format!("17 {unit}")), Ok(17 * length), "{unit}");
            assert!(
                parse(&unit.to_uppercase()).is_err() && parse(&format!("1{}", unit.to_uppercase())).is_err()
            );
        }
    }
}

/// The examples, with the two sums that R-U4 works out.
#[test]
fn examples() {
    let rows = [
        ("1000ms", 1000),
        ("3 secs", 3000),
        ("5m", 5 * MINUTE),
        ("20mins", 20 * MINUTE),
        ("10h 30 minutes", 37_800_000),
        ("1 hour 10minutes 5s", HOUR + 10 * MINUTE + 5000),
        ("1d 5h", 29 * HOUR),
        ("10 days 1hrs 30m 15 secs", 869_415_000),
    ];
    for (text, millis) in rows {
        assert_eq!(parse(text), Ok(millis), "{text}");
    }
}

/// "The default unit is milliseconds", for texts and, in documents, for integers.
#[test]
fn default_unit() {
    assert_eq!(parse("1500"), Ok(1500));
    for written in [json!("1500"), json!(1500)] {
        let world = run_one(&json!({ "retry": { "maxAttempts": 2, "delay": written } }), always(2));
        assert_eq!(world.delays(), [1500], "{written}");
    }
}

/// "Numbers must be positive integers"; 0 is allowed for delays, timeouts are longer (R-T6).
#[test]
fn positive_integers() {
    for text in ["-1s", "+1s", "1.5h", "0.5", "-1", "1e3", "½h", "s"] {
        assert!(parse(text).is_err(), "{text}");
    }
    for (field, zero) in
        [("timeout", false), ("maxRuntime", false), ("maxInactivity", false), ("deadline", false)]
    {
        for (value, accepted) in [("1ms", true), ("0", zero), ("0s", zero)] {
            let task = json!({ "name": "t", "template": "work", field: value });
            assert_eq!(small::dag(&[task]).is_ok(), accepted, "{field}: {value}");
        }
    }
    let delay = json!({ "name": "t", "template": "work", "retry": { "maxAttempts": 2, "delay": "0s" } });
    assert!(small::dag(&[delay]).is_ok());
}
