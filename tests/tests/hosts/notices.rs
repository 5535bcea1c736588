//! An endpoint hears of each phase that it asked for, at least once, signed, wherever hosts die (R-Y1 to R-Y6). Requests are
//! real, time is stepped.
#![expect(clippy::indexing_slicing, reason = "tests")]

mod receiver;

use std::{
    collections::{BTreeMap, BTreeSet},
    future::Future,
    pin::Pin,
    sync::Arc,
    time::Duration,
};

use phasm::{
    Host, Map, Outcome, Phase, Problems, RunRequest,
    clock::TimeSource as _,
    engine::time::Timestamp,
    executor::{Executor, Invocation, Observer},
    notify::{DEFAULT_PHASES, Endpoint, NoticeProgress, NoticeView, TOLD_PHASES},
    sandbox::{HttpConfig, SandboxConfig},
    store::{Leases, Mailbox, Memory, Notices, ReadStore as _, Store},
};
use phasm_tests::stepped::Stepped;
use serde_json::Value as Json;
use tokio::runtime::Runtime;

use self::receiver::{Answer, Receiver, Request, SECRET};
use super::{random::Random, shaky::Shaky};

/// Executors of the runs that hosts die over.
const KINDS: [&str; 3] = ["echo", "fail", "echo"];

/// `ask` waits for approval, `fail` fails, everything else succeeds.
struct Work;

impl Executor for Work {
    fn execute(
        &self,
        call: Invocation,
        _: Arc<dyn Observer>,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        let (code, message) = match &*call.executor_type {
            "ask" if !call.resumed => (1, "may it go on?"),
            "fail" => (2, "it did not work"),
            _ => (0, ""),
        };
        Box::pin(async move { Outcome { code, message: message.into(), ..Outcome::default() } })
    }
}

struct Stage {
    runtime: Runtime,
    time: Arc<Stepped>,
    store: Arc<Memory>,
}

impl Stage {
    fn new() -> Self {
        let time = Arc::new(Stepped::default());
        time.set(Timestamp::from_rfc3339("2026-01-01T00:00:00Z").unwrap().0);
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        Self { runtime, time, store: Arc::new(Memory::new(u64::MAX)) }
    }

    fn host(&self, endpoints: &[(&str, Endpoint)]) -> Host {
        self.host_on(Arc::clone(&self.store) as _, endpoints)
    }

    fn host_on(&self, store: Arc<dyn Store>, endpoints: &[(&str, Endpoint)]) -> Host {
        let hosts = [("inside.test", "127.0.0.1"), ("metadata.test", "169.254.169.254")];
        let hosts = hosts.map(|(name, address)| (name.to_owned(), vec![address.parse().unwrap()]));
        let sandbox = SandboxConfig {
            http: HttpConfig { hosts: BTreeMap::from(hosts), ..HttpConfig::default() },
            ..SandboxConfig::default()
        };
        let builder = Host::builder()
            .sandbox(sandbox)
            .store(store)
            .executor(Arc::new(Work))
            .time(Arc::clone(&self.time) as _)
            .auto_claim(Duration::ZERO);
        let builder =
            endpoints.iter().fold(builder, |b, (name, endpoint)| b.endpoint(*name, endpoint.clone()));
        builder.open().unwrap()
    }

    fn submit(&self, host: &Host, executor: &str) -> String {
        self.submit_told(host, executor, "").unwrap()
    }

    fn submit_told(&self, host: &Host, executor: &str, spec: &str) -> Result<String, Problems> {
        let document = format!(
            r#"{{"apiVersion": "aether/v1", "kind": "Workflow", "metadata": {{"name": "w"}}, "spec": {{{spec} "entrypoint": "main",
                "templates": [{{"dag": {{"name": "main", "tasks": [{{"name": "a", "executor": {{"type": "{executor}"}}}}]}}}}]}}}}"#
        );
        self.runtime.block_on(async {
            let plan = host.plan("w.json", &document).await?;
            Ok(host.enqueue(&plan, &Map::new(), &phasm::SubmitOptions::default()).await.unwrap().to_string())
        })
    }

    fn views(&self, run: &str) -> Vec<NoticeView> {
        let wanted = Notices { run_id: run.into(), endpoint: None, before: None, limit: 99 };
        let kept = self.runtime.block_on(self.store.notices(wanted)).unwrap();
        kept.iter().rev().map(NoticeView::of).collect()
    }

    /// The notices of a run, once they are as they are to be.
    fn until(&self, run: &str, are: impl Fn(&[NoticeView]) -> bool) -> Vec<NoticeView> {
        loop {
            let views = self.views(run);
            if are(&views) {
                return views;
            }
            std::thread::yield_now();
        }
    }

    /// Waits until a notice was tried so often, and then until it is due again; how long that was.
    fn pass_until_tried_again(&self, run: &str, tries: u32) -> u64 {
        // Not only claimed: what came of it, just now, is written.
        let now = self.time.wall().to_rfc3339();
        let is_put_off = |view: &NoticeView| view.tries == tries && view.tried_at.as_ref() == Some(&now);
        let views = self.until(run, |views| views.first().is_some_and(is_put_off));
        let due = Timestamp::from_rfc3339(views[0].due.as_ref().unwrap()).unwrap();
        let length = due.since(self.time.wall());
        self.time.pass(length);
        length
    }
}

/// One that submits, and drives nothing.
fn host_beside(stage: &Stage) -> Host {
    let builder = Host::builder().store(Arc::clone(&stage.store) as _).executor(Arc::new(Work));
    builder.time(Arc::clone(&stage.time) as _).open().unwrap()
}

fn endpoint(receiver: &Receiver) -> Endpoint {
    Endpoint {
        url: receiver.url.as_str().into(),
        secrets: vec![SECRET.parse().unwrap()],
        on: DEFAULT_PHASES.to_vec(),
        ..Endpoint::default()
    }
}

fn said(request: &Request) -> (Json, Json) {
    let body: Json = serde_json::from_str(&request.body).unwrap();
    (body["type"].clone(), body["data"].clone())
}

/// R-Y1, R-Y4: what is told, and that it is signed.
#[test]
fn a_run_that_ends_is_told_of_once_and_signed() {
    let (stage, receiver) = (Stage::new(), Receiver::new());
    let next = "whsec_bmV4dCBzZWNyZXQgdGhhdCBpcyBhZGRlZCBmaXJzdA==";
    let secrets = vec![SECRET.parse().unwrap(), next.parse().unwrap()];
    let host = stage.host(&[("chat", Endpoint { secrets, ..endpoint(&receiver) })]);
    let run = stage.submit(&host, "fail");
    let request = receiver.next(Answer::Status(204));
    let (kind, data) = said(&request);
    assert_eq!(
        (kind, &data["run"], &data["phase"]),
        ("run.failed".into(), &Json::from(&*run), &"Failed".into())
    );
    assert_eq!((&data["workflow"], &data["namespace"]), (&"w".into(), &"default".into()));
    assert!(data["message"].as_str().unwrap().contains("it did not work"), "{data}");
    assert_eq!(request.header("content-type"), "application/json");
    assert_eq!(request.header("webhook-id"), format!("{run}_{}_chat", data["seq"]));
    assert_eq!(request.header("webhook-timestamp"), "1767225600");
    let signatures: Vec<_> = request.header("webhook-signature").split(' ').map(str::to_owned).collect();
    assert_eq!(signatures, [request.signature(SECRET), request.signature(next)]);
    let views =
        stage.until(&run, |views| views.iter().all(|view| view.standing == NoticeProgress::Delivered));
    assert_eq!((views.len(), views[0].tries, views[0].status), (1, 1, Some(204)));
    assert_eq!(host.notice_counts().get("chat").unwrap().delivered, 1);
    assert_eq!(receiver.others(), 0);
}

/// R-Y1: a notification names the task that waits, with its message.
#[test]
fn a_task_that_waits_is_told_of() {
    let (stage, receiver) = (Stage::new(), Receiver::new());
    let endpoint = Endpoint { on: TOLD_PHASES.to_vec(), ..endpoint(&receiver) };
    let elsewhere = Endpoint { namespaces: vec!["other".into()], ..endpoint.clone() };
    let others = Endpoint { workflows: vec!["other".into()], ..endpoint.clone() };
    let host = stage.host(&[("chat", endpoint), ("elsewhere", elsewhere), ("others", others)]);
    let run = stage.submit(&host, "ask");
    let told: BTreeMap<_, _> = (0..2)
        .map(|_| said(&receiver.next(Answer::Status(200))))
        .map(|(kind, data)| (kind.to_string(), data))
        .collect();
    assert_eq!(told.keys().collect::<Vec<_>>(), ["\"run.running\"", "\"run.suspended\""]);
    let task = &told["\"run.suspended\""]["tasks"][0];
    assert_eq!((&task["task"], &task["message"]), (&"a".into(), &"may it go on?".into()));
    stage.runtime.block_on(stage.store.post(&run, RunRequest::Cancel.bytes())).unwrap();
    let (kind, _) = said(&receiver.next(Answer::Status(200)));
    assert_eq!(kind, "run.cancelled");
    stage.until(&run, |views| views.iter().all(|view| view.standing == NoticeProgress::Delivered));
    assert_eq!(receiver.others(), 0);
}

/// R-Y1: a document names the endpoints of its runs, out of those that are configured for its namespace.
#[test]
fn a_document_names_who_is_told() {
    let (stage, receiver) = (Stage::new(), Receiver::new());
    let named = Endpoint { named: true, workflows: vec!["other".into()], ..endpoint(&receiver) };
    let elsewhere = Endpoint { namespaces: vec!["other".into()], ..named.clone() };
    let host = stage.host(&[("chat", named), ("elsewhere", elsewhere)]);
    let told_nobody = stage.submit(&host, "echo");
    let run = stage.submit_told(&host, "echo", r#""notify": ["chat"],"#).unwrap();
    assert_eq!(said(&receiver.next(Answer::Status(200))).1["run"], run.as_str());
    stage.until(&run, |views| views.iter().all(|view| view.standing == NoticeProgress::Delivered));
    let names = r#""notify": ["caht", "elsewhere", "http://127.0.0.1/", "http://169.254.169.254/latest"],"#;
    let refused = stage.submit_told(&host, "echo", names).unwrap_err();
    let found: Vec<_> = refused.iter().map(|problem| (problem.code, problem.path.to_string())).collect();
    let paths = (0..4).map(|at| ("P076", format!("spec.notify[{at}]"))).collect::<Vec<_>>();
    assert_eq!(found, paths, "{refused}");
    assert!(refused.to_string().contains("no endpoint is named `caht`; expected `chat`"), "{refused}");
    let ended = |row: Option<phasm::store::RunRow>| row.is_some_and(|row| !row.status.open);
    while !ended(stage.runtime.block_on(stage.store.get(&told_nobody)).unwrap()) {
        std::thread::yield_now();
    }
    assert_eq!((stage.views(&told_nobody), receiver.others()), (Vec::new(), 0));
}

/// R-Y5: whatever is no success is tried again, later and later, under the same id; redirects are not followed.
#[test]
fn what_is_not_taken_is_tried_again() {
    let (stage, receiver) = (Stage::new(), Receiver::new());
    let host = stage.host(&[("chat", endpoint(&receiver))]);
    let run = stage.submit(&host, "echo");
    let answers = [
        (Answer::Status(500), "it responded 500", 5),
        (Answer::Reset, "", 60),
        (Answer::With(429, "retry-after: 7200"), "it responded 429", 7200),
        (Answer::With(302, "location: /elsewhere"), "redirects are not followed", 1800),
        (Answer::With(503, "retry-after: Thu, 01 Jan 2026 00:00:00 GMT"), "it responded 503", 7200),
        (Answer::Garbage, "", 18_000),
    ];
    let (mut ids, mut signatures) = (BTreeSet::new(), BTreeSet::new());
    for (tries, (answer, why, least)) in (1..).zip(answers) {
        let request = receiver.next(answer);
        assert_eq!(request.path, "/hook");
        assert_eq!(request.header("webhook-signature"), request.signature(SECRET));
        ids.insert(request.header("webhook-id").to_owned());
        signatures.insert(request.header("webhook-signature").to_owned());
        let length = stage.pass_until_tried_again(&run, tries);
        assert!((least * 1000..=least * 1200).contains(&length), "{tries}: {length}");
        let failure = stage.views(&run).remove(0).failure.unwrap();
        assert!(failure.contains(why), "{failure}");
    }
    ids.insert(receiver.next(Answer::Status(202)).header("webhook-id").to_owned());
    assert_eq!((ids.len(), signatures.len()), (1, 6), "one id, and the time of each try");
    let views = stage.until(&run, |views| views[0].standing == NoticeProgress::Delivered);
    assert_eq!((views[0].tries, views[0].failure.clone()), (7, None));
    assert_eq!(host.notice_counts().get("chat").unwrap().failed, 6);
    assert_eq!(receiver.others(), 0);
}

/// R-Y5: after three days it is given up, and said so.
#[test]
fn what_nobody_takes_is_given_up() {
    let (stage, receiver) = (Stage::new(), Receiver::new());
    let host = stage.host(&[("chat", endpoint(&receiver))]);
    let run = stage.submit(&host, "echo");
    for tries in 1..=10 {
        receiver.next(Answer::Status(500));
        stage.pass_until_tried_again(&run, tries);
    }
    receiver.next(Answer::Status(500));
    let views = stage.until(&run, |views| views[0].standing == NoticeProgress::GivenUp);
    assert_eq!((views[0].tries, views[0].due.clone()), (11, None));
    assert_eq!(host.notice_counts().get("chat").unwrap().given_up, 1);
}

/// R-Y5: who answers 410 hears no more of that run, and of others it does.
#[test]
fn who_is_gone_hears_no_more_of_the_run() {
    let (stage, receiver) = (Stage::new(), Receiver::new());
    let host = stage.host(&[("chat", endpoint(&receiver))]);
    let run = stage.submit(&host, "ask");
    receiver.next(Answer::Status(410));
    stage.until(&run, |views| views[0].standing == NoticeProgress::Gone);
    stage.runtime.block_on(stage.store.post(&run, RunRequest::Cancel.bytes())).unwrap();
    stage.until(&run, |views| views.len() == 2 && views[1].standing == NoticeProgress::Gone);
    let other = stage.submit(&host, "echo");
    assert_eq!(said(&receiver.next(Answer::Status(200))).1["run"], other.as_str());
    assert_eq!(receiver.others(), 0);
}

/// R-Y6: an endpoint that does not answer holds up no other.
#[test]
fn one_that_hangs_holds_up_no_other() {
    let (stage, hanging, receiver) = (Stage::new(), Receiver::new(), Receiver::new());
    let host = stage.host(&[("dead", endpoint(&hanging)), ("well", endpoint(&receiver))]);
    let runs: Vec<_> = (0..20).map(|_| stage.submit(&host, "echo")).collect();
    let told: BTreeSet<_> =
        runs.iter().map(|_| said(&receiver.next(Answer::Status(200))).1["run"].to_string()).collect();
    assert_eq!(told.len(), 20);
    // Eight of them have begun, and no more.
    let held: Vec<_> = (0..8).map(|_| hanging.next(Answer::Hang)).collect();
    assert_eq!(hanging.others(), 0);
    drop(held);
}

/// R-Y7: a name that turns out to be an address inside is not reached, unless that is allowed.
#[test]
fn a_name_does_not_lead_inside() {
    let (stage, receiver) = (Stage::new(), Receiver::new());
    let to = |host: &str, inside| Endpoint {
        url: receiver.url.replace("127.0.0.1", host).into(),
        inside,
        ..endpoint(&receiver)
    };
    let host = stage.host(&[
        ("allowed", to("inside.test", true)),
        ("loopback", to("inside.test", false)),
        ("metadata", to("metadata.test", false)),
    ]);
    let run = stage.submit(&host, "echo");
    receiver.next(Answer::Status(200));
    let views =
        stage.until(&run, |views| views.iter().all(|view| view.failure.is_some() || view.status.is_some()));
    let failures: Vec<_> = views.iter().map(|view| view.failure.clone().unwrap_or_default()).collect();
    assert_eq!(failures[0], "");
    assert!(failures[1].contains("inside.test is 127.0.0.1, a loopback address"), "{failures:?}");
    assert!(failures[2].contains("metadata.test is 169.254.169.254"), "{failures:?}");
    assert_eq!(receiver.others(), 0);
}

/// R-Y3: hosts that die at any call of the store leave nothing untold, and what comes twice has one id.
#[test]
fn hosts_that_die_leave_nothing_untold() {
    for seed in 0..6 {
        let (stage, receiver, mut random) = (Stage::new(), Receiver::new(), Random(seed));
        receiver.answer_all();
        let told = [("chat", endpoint(&receiver))];
        let mut submitted = BTreeSet::new();
        for round in 0..4 {
            let store = Arc::new(Shaky::new(&stage.store, stage.runtime.handle(), seed, 0));
            let host = stage.host_on(Arc::clone(&store) as _, &told);
            store.die_after(random.below(60) + round);
            submitted.extend((0..3).map(|at| stage.submit(&host_beside(&stage), KINDS[at])));
            let is_told = |run: &String| {
                let views = stage.views(run);
                !views.is_empty() && views.iter().all(|view| view.standing == NoticeProgress::Delivered)
            };
            while !store.is_dead() {
                if submitted.iter().all(is_told) {
                    store.die();
                }
                std::thread::yield_now();
            }
            let id = host.id().clone();
            drop(host);
            stage.runtime.block_on(stage.store.heartbeat(&id, Timestamp(0))).unwrap();
            stage.time.pass(60_000);
        }
        let host = stage.host(&told);
        for run in &submitted {
            stage.until(run, |views| {
                stage.time.pass(1000);
                !views.is_empty() && views.iter().all(|view| view.standing == NoticeProgress::Delivered)
            });
        }
        let ids = receiver.ids();
        for run in &submitted {
            let expected: Vec<_> = stage.views(run).into_iter().map(|view| view.id).collect();
            assert!(expected.iter().all(|id| ids.contains(id)), "seed {seed}: {expected:?}");
        }
        let known: BTreeSet<_> = ids.iter().map(|id| id.split('_').next().unwrap().to_owned()).collect();
        assert!(known.iter().all(|run| !stage.views(run).is_empty()), "nothing else is told");
        drop(host);
    }
}

/// R-Y9: a notification for an endpoint that no host has is given up after a week, and not before; a host that has it until then
/// delivers it.
#[test]
fn what_nobody_delivers_is_given_up_after_a_week() {
    const DAY: u64 = 24 * 3600 * 1000;
    let (stage, receiver) = (Stage::new(), Receiver::new());
    // This host writes notifications and cannot deliver them.
    let mute = Endpoint { secrets: Vec::new(), ..endpoint(&receiver) };
    let told_of = |name: &str| {
        let host = stage.host(&[(name, mute.clone())]);
        let run = stage.submit(&host, "echo");
        stage.until(&run, |views| views.len() == 1);
        run
    };
    let forgotten = told_of("zulu");
    stage.time.pass(2 * DAY);
    let late = told_of("chat");
    // A host of another configuration looks at both.
    let other = stage.host(&[("mail", endpoint(&receiver))]);
    stage.time.pass(5 * DAY);
    let given_up = stage.until(&forgotten, |views| views[0].standing != NoticeProgress::Waiting);
    assert_eq!((given_up[0].standing, given_up[0].tries), (NoticeProgress::GivenUp, 0));
    assert_eq!(given_up[0].failure.as_deref(), Some("no host has had such an endpoint for 7 days"));
    assert_eq!(stage.views(&late)[0].standing, NoticeProgress::Waiting, "it was looked at first");
    drop(other);
    // A host has it again and writes another notification, so the first one is not taken for forgotten.
    stage.time.pass(DAY);
    let forgotten = told_of("zulu");
    stage.time.pass(DAY);
    let fresh = told_of("chat");
    let other = stage.host(&[("mail", endpoint(&receiver))]);
    stage.time.pass(6 * DAY);
    stage.until(&forgotten, |views| views[0].standing == NoticeProgress::GivenUp);
    assert_eq!(stage.views(&late)[0].standing, NoticeProgress::Waiting);
    drop(other);
    let host = stage.host(&[("chat", endpoint(&receiver))]);
    for _ in [&late, &fresh] {
        receiver.next(Answer::Status(200));
    }
    for run in [&late, &fresh] {
        stage.until(run, |views| views[0].standing == NoticeProgress::Delivered);
    }
    drop(host);
    assert_eq!(receiver.others(), 0);
}

/// R-Y8: what is shown of phases is what the words of the configuration are.
#[test]
fn phases_that_are_told_of_are_final_or_wait() {
    assert!(DEFAULT_PHASES.iter().all(|phase| phase.is_terminal() || *phase == Phase::Suspended));
    assert!(TOLD_PHASES.iter().all(|phase| DEFAULT_PHASES.contains(phase) || *phase == Phase::Running));
}
