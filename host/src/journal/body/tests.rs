use std::sync::Arc;

use phasm_engine::{
    event::{
        AttemptEnd, Binding, Fence, InputValue, PhaseChange, PhaseData, Reason, RetrySchedule, ScopeOpening,
        TaskId, TimeLimit,
    },
    outcome::Output,
    phase::Phase,
    plan::SecretRef,
    usage::ResourceUsage,
    value::Value,
    weight::Weight,
};
use proptest::prelude::*;

use super::*;

fn round(moments: Vec<Moment>) -> usize {
    let time = moments.last().unwrap().time;
    let body = Body { moments, basis: None };
    let (mut bytes, mut again) = (Vec::new(), Vec::new());
    body.encode(&mut bytes);
    body.encode(&mut again);
    assert_eq!(bytes, again);
    assert_eq!(decode(&bytes, time).unwrap(), body);
    bytes.len()
}

fn at(time: i64, events: Vec<Event>) -> Moment {
    Moment { time: Timestamp(time), events: Arc::new(events) }
}

/// Everything that one task run writes, as a rule.
fn of_task(task: u32, inputs: &Value) -> Vec<Event> {
    let fence = Fence { task: TaskId(task), attempt: 1, dispatch: 1 };
    let phase = |from, to, with: Option<PhaseData>| {
        let with = with.map(Box::new);
        Event::Phase(PhaseChange { task: TaskId(task), from, to, reason: None, with })
    };
    let binding = Binding { name: "n".into(), value: InputValue::Value(inputs.clone()) };
    let bound = PhaseData::Bound { inputs: Arc::new(vec![binding]), config: Value::Object(Arc::default()) };
    let ended = AttemptEnd {
        fence,
        phase: Phase::Succeeded,
        code: 0,
        message: Arc::default(),
        outputs: Arc::new(vec![Output::new("n", inputs.clone())]),
        duration_ms: Some(0),
        condition: None,
        metered: ResourceUsage { cpu_us: 9_000, pages: 17, calls: 2, bytes_in: 0, bytes_out: 0 },
    };
    vec![
        phase(Phase::Created, Phase::Ready, Some(bound)),
        Event::AttemptStarted(fence),
        phase(Phase::Ready, Phase::Running, None),
        Event::AttemptEnded(Box::new(ended)),
        phase(Phase::Running, Phase::Succeeded, None),
        Event::TaskEnded(TaskId(task), true),
    ]
}

#[test]
fn what_every_task_writes_takes_few_bytes() {
    let alone = round(vec![at(5, of_task(70_000, &7.into()))]);
    let among = round(vec![at(5, (0..1000).flat_map(|task| of_task(70_000 + task, &7.into())).collect())]);
    assert!(alone <= 56 && among <= 46 * 1000, "{alone} {among}");
}

/// A value that several events share is written once, and so is a text.
#[test]
fn a_value_is_written_once() {
    let large: Value = vec![Value::from("x".repeat(1000)); 3].into();
    let bytes = round(vec![at(5, (0..100).flat_map(|task| of_task(task, &large)).collect())]);
    assert!(bytes < 1000 + 100 * 50, "{bytes}");
    let binding = Binding { name: "n".into(), value: InputValue::Value(large) };
    let inputs = Arc::new(vec![binding]);
    let opened = |task| {
        Event::ScopeOpened(Box::new(ScopeOpening {
            task: TaskId(task),
            inputs: Arc::clone(&inputs),
            items: None,
        }))
    };
    let bytes = round(vec![at(5, (0..100).map(opened).collect())]);
    assert!(bytes < 1000 + 100 * 20, "{bytes}");
}

#[test]
fn moments_keep_their_times() {
    let events = || of_task(1, &Value::Null);
    round(vec![at(5, events())]);
    round(vec![at(2, events()), at(5, events()), at(9, events())]);
    round(vec![at(-9, events()), at(0, events())]);
}

fn opened(task: TaskId, items: Option<Vec<Value>>) -> Event {
    let binding = Binding { name: "i".into(), value: InputValue::Value(vec![Value::from("v")].into()) };
    let (inputs, items) = (Arc::new(vec![binding]), items.map(Arc::new));
    Event::ScopeOpened(Box::new(ScopeOpening { task, inputs, items }))
}

#[test]
fn what_is_rare_is_json() {
    let task = TaskId(u32::MAX);
    let phase = |reason, with: Option<PhaseData>| {
        let (from, to) = (Phase::Running, Phase::Cancelled);
        Event::Phase(PhaseChange { task, from, to, reason, with: with.map(Box::new) })
    };
    let outputs = || Arc::new(vec![Output::new("o", vec![Value::Bool(true)])]);
    let partial = || PhaseData::Partial { message: "m".into(), outputs: outputs() };
    let secret = InputValue::SecretKeyRef(SecretRef { name: "s".into(), key: "k".into() });
    let secret = Binding { name: "i".into(), value: secret };
    let wake_at = Timestamp(i64::MAX);
    let (bytes_in, bytes_out) = (u64::MAX, u64::MAX);
    let most = ResourceUsage { cpu_us: u64::MAX, pages: u32::MAX, calls: u32::MAX, bytes_in, bytes_out };
    round(vec![at(
        0,
        vec![
            phase(Some(Reason::MaxAttempts0), None),
            phase(Some(Reason::User), Some(partial())),
            phase(None, Some(partial())),
            phase(None, Some(PhaseData::Result { message: "é".into(), outputs: outputs() })),
            phase(
                Some(Reason::User),
                Some(PhaseData::Result { message: Arc::default(), outputs: outputs() }),
            ),
            phase(None, Some(PhaseData::Bound { inputs: Arc::new(vec![secret]), config: Value::Null })),
            opened(task, None),
            opened(task, Some(vec![Value::Null, vec![Value::from(1)].into()])),
            Event::TimedOut(task, TimeLimit::Deadline),
            Event::RetryScheduled(RetrySchedule { task, attempt: u32::MAX, delay_ms: u64::MAX, wake_at }),
            Event::TaskEnded(TaskId(0), false),
            Event::Metered(Fence { task, attempt: u32::MAX, dispatch: 7 }, most),
            Event::Broken("b".into()),
            Event::CancelRequested,
        ],
    )]);
    // A new phase or reason has a place, too.
    for (number, phase) in Phase::ALL.into_iter().enumerate() {
        assert_eq!(phase as usize, number);
    }
}

#[test]
fn what_was_not_written_so_is_an_error() {
    let mut bytes = Vec::new();
    let moments = vec![at(5, of_task(3, &vec![Value::from("text")].into()))];
    Body { moments, basis: None }.encode(&mut bytes);
    let read = |bytes: &[u8]| decode(bytes, Timestamp(5));
    let whole = read(&bytes).unwrap();
    for length in 0..bytes.len() {
        // Between two events it is a shorter record, whose number of events is wrong.
        assert!(read(&bytes[..length]).is_err() || read(&bytes[..length]).unwrap() != whole, "{length}");
    }
    let rows: [&[u8]; 12] = [
        b"",
        b"[",
        b"[] ]",
        &[3],
        &[2, 99],
        &[2, tag::DONE, 1],
        &[2, tag::DONE, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2],
        &[2, tag::PHASE, 0, 0x0f],
        &[2, tag::REASON, 0, 0x12, 6, b'x', b'y', b'z'],
        &[2, tag::BOUND, 0, 0x01, 1, 1],
        &[2, tag::BOUND, 0, 0x01, 0, kind::KNOWN, 0],
        &[2, tag::BOUND, 0, 0x01, 0xff, 0xff, 0xff, 0xff, 0x0f],
    ];
    for row in rows {
        assert!(read(row).is_err(), "{row:?}");
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(|number| Value::Number(number.into())),
        any::<f64>().prop_filter_map("finite", |number| Value::from_json(&format!("{number:?}")).ok()),
        "[\\PC\\x00-\\x1f]{0,9}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map("[a-c]{0,2}".prop_map(Arc::from), inner, 0..5).prop_map(Value::from),
        ]
    })
}

/// R-C2: the condition that decided about an attempt is kept with it.
#[test]
fn an_attempt_keeps_its_condition() {
    let mut events = of_task(1, &Value::Null);
    for event in &mut events {
        if let Event::AttemptEnded(ended) = event {
            ended.condition = Some(Phase::Error);
        }
    }
    let body = Body { moments: vec![at(0, events)], basis: None };
    let mut bytes = Vec::new();
    body.encode(&mut bytes);
    assert_eq!(decode(&bytes, Timestamp(0)).unwrap(), body);
}

proptest! {
    #[test]
    fn every_value_is_read_as_it_was_written(value in any_value(), task in any::<u32>()) {
        let json = serde_json::to_string(&value).unwrap();
        let moments = vec![at(0, of_task(task, &value))];
        let mut bytes = Vec::new();
        Body { moments, basis: None }.encode(&mut bytes);
        let read = decode(&bytes, Timestamp(0)).unwrap();
        let Event::AttemptEnded(ended) = &read.moments[0].events[3] else { panic!() };
        prop_assert_eq!(serde_json::to_string(&ended.outputs[0].value).unwrap(), json);
    }

    /// R-H8: what a step is said to take at most it never exceeds, as it is written and as JSON.
    #[test]
    fn nothing_takes_more_than_it_weighs(values in prop::collection::vec(any_value(), 0..20)) {
        let (mut weight, mut json) = (Weight::default(), Weight::default());
        values.iter().chain(&values).for_each(|value| weight.add(value));
        values.iter().for_each(|value| json.add_json(value, usize::MAX));
        let text: usize = values.iter().map(|value| value.to_json().len()).sum();
        prop_assert!(text <= json.bytes(), "{text} {json:?}");

        let around = round(vec![at(0, vec![opened(TaskId(1), Some(Vec::new()))])]);
        let items = values.iter().chain(&values).cloned().collect();
        let written = round(vec![at(0, vec![opened(TaskId(1), Some(items))])]);
        prop_assert!(written <= around + weight.bytes(), "{written} {weight:?}");
    }

    #[test]
    fn nothing_panics(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        let mut body = vec![FORM];
        body.extend(bytes);
        let _read = decode(&body, Timestamp(0));
    }
}
