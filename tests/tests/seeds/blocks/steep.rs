//! Seed 003.

use phasm_engine::{
    event::{Input, Reason},
    phase::Phase,
};

use super::play::{acts, ended, hangs, indented, play, returns, submit, workflow};

const TIMEOUTS: &str = include_str!("../../../seeds/003-timeout-policies.yaml");
const RETRY: &str = include_str!("../../../seeds/003-retry-policy.yaml");

const MINUTE: u64 = 60_000;

/// A dag of one service with more lines.
fn service(lines: &str) -> String {
    let node = format!("- name: service\n  executor: {{type: echo}}\n{}", indented(lines, 2));
    let dag = format!("dag:\n  name: main\n  tasks:\n{}", indented(&node, 2));
    workflow(&[&dag], "timeout: none")
}

/// R-T4: "cancelled after 5 minutes of inactivity and aborted with an error if its total execution takes longer than
/// 1 hour": whichever expires first decides.
#[test]
fn timeout_policies() {
    let document = service(TIMEOUTS);
    let played = play(&document, acts([("service", vec![hangs()])]));
    assert_eq!(played.ended("service"), ended(1, &[], Phase::Error, Some(Reason::Deadline)));
    assert_eq!((played.phase(), played.finished_at()), (Phase::Error, 60 * 60_000));

    let waits = submit(&document, acts([("service", vec![hangs()])]));
    let fence = waits.dispatch("service").fence;
    assert_eq!(waits.dispatch("service").max_inactivity, Some(5 * MINUTE));
    let played = waits.at(5 * MINUTE, Input::Inactive(fence)).through();
    assert_eq!(played.ended("service"), ended(1, &[], Phase::Cancelled, Some(Reason::TimeoutPolicy)));
    assert_eq!((played.phase(), played.finished_at()), (Phase::Cancelled, 5 * 60_000));

    let played = play(&document, acts([("service", vec![returns(0)])]));
    assert_eq!(played.ended("service"), ended(1, &[], Phase::Succeeded, None));
}

/// R-R3, R-R12: five attempts in all, 1, 2, 4 and 8 s apart; Failed is tried again, too.
#[test]
fn retry_policy() {
    let document = service(&format!("retry:\n{}", indented(RETRY, 2)));
    let delays = [1000, 2000, 4000, 8000];
    for (code, phase) in [(2, Phase::Failed), (3, Phase::Error), (4, Phase::Timeout)] {
        let played = play(&document, acts([("service", vec![returns(code)])]));
        assert_eq!(played.ended("service"), ended(5, &delays, phase, Some(Reason::RetryExhausted)));
    }
    let played = play(&document, acts([("service", vec![returns(2), returns(3), returns(0)])]));
    assert_eq!(played.ended("service"), ended(3, &[1000, 2000], Phase::Succeeded, None));
}

/// R-R3: the worked example, delays after attempts 1 to 6.
#[test]
fn the_six_delays() {
    let seven = RETRY.replace("maxAttempts: 5", "maxAttempts: 7");
    let document = service(&format!("retry:\n{}", indented(&seven, 2)));
    let played = play(&document, acts([("service", vec![returns(3)])]));
    let delays = [1000, 2000, 4000, 8000, 10_000, 10_000];
    assert_eq!(played.ended("service"), ended(7, &delays, Phase::Error, Some(Reason::RetryExhausted)));
}

/// R-T4, R-R8: both blocks together. The deadline spans attempts and delays; inactivity ends one attempt, and the next
/// follows after the delay.
#[test]
fn both_blocks() {
    let document = service(&format!("{TIMEOUTS}retry:\n{}", indented(RETRY, 2)));
    let waits = submit(&document, acts([("service", vec![hangs(), returns(0)])]));
    let fence = waits.dispatch("service").fence;
    let played = waits.at(5 * MINUTE, Input::Inactive(fence)).through();
    assert_eq!(played.ended("service"), ended(2, &[1000], Phase::Succeeded, None));

    let played = play(&document, acts([("service", vec![returns(3), hangs()])]));
    assert_eq!(played.ended("service"), ended(2, &[1000], Phase::Error, Some(Reason::Deadline)));
    assert_eq!(played.finished_at(), 60 * 60_000);
}
