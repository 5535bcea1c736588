//! Whatever is asked in whatever order, the file and the database answer as the memory does.

use proptest::prelude::*;

use super::{
    super::{
        AttemptLog, CatalogKind, Change, Claim, ClaimRequest, Component, Document, EntryName, EntryQuery,
        Filter, Leases, NewNotice, Notices, Reply, Rest, Settle, Text,
    },
    *,
};

const HOSTS: [&str; 3] = ["here", "there", "elsewhere"];

const RUNS: [&str; 4] = ["a", "b", "c", "d"];

#[derive(Clone, Debug)]
enum Question {
    /// `ahead` of where the run's journal ends: mostly 0.
    Append {
        run: usize,
        ahead: i64,
        events: u32,
        body: Vec<u8>,
        phase: usize,
        finished: Option<i64>,
        open: bool,
        rest: Option<Rest>,
    },
    Component(usize),
    Census(i64),
    Stored(bool),
    Ended(Option<usize>, usize),
    Abandon(usize),
    Load(usize),
    Get(usize),
    List {
        phase: Option<usize>,
        before: Option<u64>,
        limit: usize,
    },
    Open,
    /// The store is closed and opened.
    Reopen,
    Post(usize),
    Mail(usize),
    /// To the letter of that number, or one that is none.
    Reply {
        run: usize,
        letter: u64,
        with_record: bool,
    },
    Answer(usize, u64),
    Log(usize, u32),
    Delete(usize),
    Claim {
        host: usize,
        now: i64,
        limit: usize,
        except: Option<usize>,
    },
    ClaimRun {
        host: usize,
        run: usize,
        now: i64,
    },
    Release {
        run: usize,
        wake_at: Option<i64>,
    },
    NextDue(usize),
    Heartbeat(usize, i64),
    /// `off` from the revision that there is; with texts of those numbers, or those it had. With a run that is created, if it is one.
    Change {
        entry: usize,
        off: u64,
        due: Option<i64>,
        texts: Option<Vec<usize>>,
        run: Option<usize>,
    },
    RemoveEntry(usize),
    EntryQuery(usize, usize),
    Notices(usize, usize),
    /// Writes the latest notification of a run, `off` from the current revision.
    Settle {
        run: usize,
        off: u64,
        due: Option<i64>,
    },
}

fn asked() -> impl Strategy<Value = Question> {
    let run = 0..RUNS.len();
    let append = (
        run.clone(),
        prop_oneof![8 => Just(0_i64), 1 => -2..3_i64],
        1..4_u32,
        prop::collection::vec(any::<u8>(), 0..40),
        0..Phase::ALL.len(),
        any::<Option<i64>>(),
        prop::bool::weighted(0.8),
        prop::option::of((any::<bool>(), prop::option::of(0..9_i64))),
    );
    prop_oneof![
        12 => append.prop_map(|(run, ahead, events, body, phase, finished, open, rest)| {
            let rest = rest.map(|(parked, until)| Rest { parked, until: until.map(Timestamp) });
            Question::Append { run, ahead, events, body, phase, finished, open, rest }
        }),
        1 => (0..3_usize).prop_map(Question::Component),
        1 => (0..9_i64).prop_map(Question::Census),
        2 => any::<bool>().prop_map(Question::Stored),
        1 => (prop::option::of(0..Phase::ALL.len()), 1..4_usize).prop_map(|(phase, limit)| Question::Ended(phase, limit)),
        1 => (0..RUNS.len()).prop_map(Question::Abandon),
        2 => run.clone().prop_map(Question::Load),
        2 => run.prop_map(Question::Get),
        2 => (prop::option::of(0..Phase::ALL.len()), prop::option::of(0..6_u64), 0..6_usize)
            .prop_map(|(phase, before, limit)| Question::List { phase, before, limit }),
        2 => Just(Question::Open),
        1 => Just(Question::Reopen),
        2 => (0..RUNS.len()).prop_map(Question::Post),
        1 => (0..RUNS.len()).prop_map(Question::Mail),
        2 => (0..RUNS.len(), 0..6_u64, any::<bool>())
            .prop_map(|(run, letter, with_record)| Question::Reply { run, letter, with_record }),
        2 => (0..RUNS.len(), 0..6_u64).prop_map(|(run, letter)| Question::Answer(run, letter)),
        1 => (0..RUNS.len(), 1..3_u32).prop_map(|(run, attempt)| Question::Log(run, attempt)),
        1 => (0..RUNS.len()).prop_map(Question::Delete),
        6 => changes(),
        2 => (0..RUNS.len(), 0..4_usize).prop_map(|(run, limit)| Question::Notices(run, limit)),
        4 => (0..RUNS.len(), prop_oneof![6 => Just(0_u64), 1 => 1..3_u64], prop::option::of(0..6_i64))
            .prop_map(|(run, off, due)| Question::Settle { run, off, due }),
        1 => (0..ENTRIES).prop_map(Question::RemoveEntry),
        2 => (0..ENTRIES, 0..4_usize).prop_map(|(entry, limit)| Question::EntryQuery(entry, limit)),
    ]
}

/// Entries of both kinds, in two namespaces.
const ENTRIES: usize = 5;

fn entry(number: usize) -> EntryName {
    let namespace = ["a", "b"][number / 2 % 2].into();
    EntryName { shelf: CatalogKind::ALL[number / 4], namespace, name: number.to_string().into() }
}

fn changes() -> impl Strategy<Value = Question> {
    let texts = prop::option::of(prop::collection::btree_set(0..4_usize, 0..3));
    let (off, due) = (prop_oneof![6 => Just(0_u64), 1 => 1..3_u64], prop::option::of(0..6_i64));
    let run = prop::option::weighted(0.3, 0..RUNS.len());
    (0..ENTRIES, off, due, texts, run).prop_map(|(entry, off, due, texts, run)| {
        // A run comes with texts that stay as they are.
        let texts = texts.filter(|_| run.is_none()).map(|texts| texts.into_iter().collect());
        Question::Change { entry, off, due, texts, run }
    })
}

fn change(name: EntryName, from: u64, due: Option<i64>, texts: Option<&[usize]>) -> Change {
    let text = |number: &usize| {
        let bytes: Arc<[u8]> = vec![7; *number].into();
        Text { digest: number.to_string().into(), size: *number as u64, bytes: Some(bytes) }
    };
    let texts = texts.map(|texts| texts.iter().map(text).collect());
    Change { name, from, due: due.map(Timestamp), body: "says".into(), texts }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the others are asked elsewhere")]
async fn about_entries(store: &dyn Store, leases: &LeasesByRun, asked: &Question) -> String {
    match asked {
        Question::Change { entry: number, off, due, texts, run } => {
            let name = entry(*number);
            let found = store.entry(&name).await.unwrap().map_or(0, |entry| entry.revision);
            let change = change(name, found + off, *due, texts.as_deref());
            let Some(run) = run else { return format!("{:?}", store.change(change).await) };
            let body: Arc<dyn Encode> = Arc::new(b"fired".to_vec());
            let first = Record { document: document(*run), notices: notices(0), ..record(0, 1, body) };
            let fired = store.fire(&lease(leases, *run), RUNNING, first, change).await;
            format!("{fired:?} {:?}", store.get(RUNS[*run]).await)
        }
        Question::Notices(run, limit) => {
            let of = Notices { run_id: RUNS[*run].into(), endpoint: None, before: None, limit: *limit };
            let some = Notices { endpoint: Some("chat".into()), before: Some(3), ..of.clone() };
            let due = (store.due_notices("chat", 9).await, store.due_notices("mail", *limit).await);
            format!("{due:?} {:?} {:?}", store.notices(of).await, store.notices(some).await)
        }
        Question::Settle { run, off, due } => {
            let of = Notices { run_id: RUNS[*run].into(), endpoint: None, before: None, limit: 1 };
            let Some(notice) = store.notices(of).await.unwrap().pop() else { return String::new() };
            let (from, due, body) = (notice.revision + off, due.map(Timestamp), "settled".into());
            format!("{:?}", store.settle(Settle { id: notice.id, from, due, body }).await)
        }
        Question::RemoveEntry(number) => format!("{:?}", store.remove_entry(&entry(*number)).await),
        Question::EntryQuery(number, limit) => {
            let name = entry(*number);
            let all = EntryQuery { shelf: name.shelf, namespace: None, after: None, limit: *limit };
            let some = EntryQuery {
                namespace: Some(Arc::clone(&name.namespace)),
                after: Some((Arc::clone(&name.namespace), "0".into())),
                ..all.clone()
            };
            let due = store.due_entries(Some((Timestamp(2), name.clone())), *limit).await;
            let texts = texts(store).await;
            let found =
                (store.entries(all).await, store.entries(some).await, store.due_entries(None, 9).await);
            format!("{:?} {found:?} {due:?} {texts:?}", store.entry(&name).await)
        }
        other => panic!("{other:?}"),
    }
}

async fn texts(store: &dyn Store) -> Vec<Option<usize>> {
    let mut texts = Vec::new();
    for number in 0..4 {
        texts.push(store.text(&number.to_string()).await.unwrap().map(|bytes| bytes.len()));
    }
    texts
}

/// Returns the notifications of an event.
fn notices(seq: u64) -> Vec<NewNotice> {
    let new = |endpoint: &str, due| NewNotice {
        seq,
        endpoint: endpoint.into(),
        due: Timestamp(due),
        body: seq.to_string().into(),
    };
    [None, Some(new("chat", 3)), Some(new("mail", 5))]
        .into_iter()
        .take(1 + seq as usize % 3)
        .flatten()
        .collect()
}

/// Also what a store answers by the time it is told; a database goes by its own clock.
fn asked_of_hosts() -> impl Strategy<Value = Question> {
    prop_oneof![
        3 => asked(),
        1 => prop_oneof![
            3 => (0..HOSTS.len(), 0..9_i64, 0..4_usize, prop::option::of(0..RUNS.len()))
                .prop_map(|(host, now, limit, except)| Question::Claim { host, now, limit, except }),
            2 => (0..HOSTS.len(), 0..RUNS.len(), 0..9_i64)
                .prop_map(|(host, run, now)| Question::ClaimRun { host, run, now }),
            3 => (0..RUNS.len(), prop::option::of(0..9_i64))
                .prop_map(|(run, wake_at)| Question::Release { run, wake_at }),
            2 => (0..HOSTS.len()).prop_map(Question::NextDue),
            1 => (0..HOSTS.len(), 0..9_i64).prop_map(|(host, until)| Question::Heartbeat(host, until)),
        ],
    ]
}

/// Last lease of each run; for a run that was not claimed, the lease of its submitter.
type LeasesByRun = std::collections::BTreeMap<usize, Lease>;

fn lease(leases: &LeasesByRun, run: usize) -> Lease {
    let first = || Lease::first(prior(RUNS[run], u16::try_from(run / 2).unwrap()), here());
    leases.get(&run).cloned().unwrap_or_else(first)
}

fn learn(leases: &mut LeasesByRun, given: &[Lease]) {
    for lease in given {
        let run = RUNS.iter().position(|run| **run == *lease.head.run_id).unwrap();
        leases.insert(run, lease.clone());
    }
}

fn wanted(host: usize, now: i64, limit: usize, except: Option<usize>) -> ClaimRequest {
    let except = except.into_iter().map(|run| RUNS[run].into()).collect();
    ClaimRequest { host: HOSTS[host].into(), now: Timestamp(now), limit, except }
}

/// Two of the runs share a document, one has another with a component of the first, and one has none.
fn document(run: usize) -> Option<Arc<Document>> {
    let names = [Some([0, 1]), Some([0, 1]), Some([1, 2]), None][run]?;
    let component =
        |name: usize| Component { digest: name.to_string().into(), bytes: [7; 3].as_slice().into() };
    let digest = format!("{names:?}");
    let bytes = digest.clone().into_bytes().into();
    let components = names.map(component).to_vec();
    Some(Arc::new(Document { digest: digest.into(), bytes, components }))
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the others are asked below")]
async fn answered(store: &dyn Store, leases: &mut LeasesByRun, asked: &Question) -> String {
    match asked {
        Question::Census(now) => format!("{:?}", store.census(Timestamp(*now)).await),
        Question::Stored(of_one) => {
            let namespaces = of_one.then(|| "default".into()).into_iter().collect();
            format!("{:?}", store.stored(namespaces).await)
        }
        Question::Ended(phase, limit) => {
            let phase = phase.map(|phase| Phase::ALL[phase]);
            format!("{:?} {:?}", store.ended("default", phase, *limit).await, store.namespaces().await)
        }
        Question::Component(number) => format!("{:?}", store.component(&number.to_string()).await),
        Question::Append { run, ahead, events, body, phase, finished, open, rest } => {
            let seq = store.get(RUNS[*run]).await.unwrap().map_or(0, |row| row.seq);
            let finished_at = finished.map(Timestamp);
            let status = RunStatus { phase: Phase::ALL[*phase], finished_at, open: *open, rest: *rest };
            let body: Arc<dyn Encode> = Arc::new(body.clone());
            let record = record(seq.saturating_add_signed(*ahead), *events, body);
            let record = Record { document: document(*run), notices: notices(seq), ..record };
            format!("{:?}", store.append(&lease(leases, *run), status, record, Vec::new()).await)
        }
        Question::Load(run) => format!("{:?}", store.load(RUNS[*run]).await),
        Question::Get(run) => format!("{:?}", store.get(RUNS[*run]).await),
        Question::List { phase, before, limit } => {
            let phase = phase.map(|phase| Phase::ALL[phase]);
            format!("{:?}", store.list(Filter { phase, before: *before, ..Filter::default() }, *limit).await)
        }
        Question::Open => format!("{:?}", store.open_runs().await),
        Question::Reopen => String::new(),
        Question::Post(run) => format!("{:?}", store.post(RUNS[*run], b"letter".to_vec()).await),
        Question::Mail(run) => format!("{:?}", store.mail(&lease(leases, *run)).await),
        Question::Reply { run, letter, with_record } => {
            let replies = vec![Reply { letter: *letter, body: b"reply".as_slice().into() }];
            let lease = lease(leases, *run);
            if *with_record {
                let seq = store.get(RUNS[*run]).await.unwrap().map_or(0, |row| row.seq);
                let body: Arc<dyn Encode> = Arc::new(Vec::new());
                return format!("{:?}", store.append(&lease, RUNNING, record(seq, 1, body), replies).await);
            }
            format!("{:?}", store.reply(&lease, replies).await)
        }
        Question::Answer(run, letter) => format!("{:?}", store.answer(RUNS[*run], *letter).await),
        Question::Log(run, attempt) => {
            let text = b"line".to_vec();
            let log = AttemptLog { task: 0, attempt: *attempt, dispatch: 1, cut: 0, text, damaged: false };
            let kept = store.keep_log(&lease(leases, *run), log).await;
            format!("{kept:?} {:?}", store.logs(RUNS[*run], None).await)
        }
        Question::Delete(run) => {
            let deleted = store.delete(RUNS[*run]).await;
            if matches!(deleted, Ok(true)) {
                leases.remove(run);
            }
            format!("{deleted:?}")
        }
        other => by_a_host(store, leases, other).await,
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the others are asked above")]
async fn by_a_host(store: &dyn Store, leases: &mut LeasesByRun, asked: &Question) -> String {
    match asked {
        Question::Claim { host, now, limit, except } => {
            let claimed = store.claim(wanted(*host, *now, *limit, *except)).await.unwrap();
            learn(leases, &claimed);
            format!("{claimed:?}")
        }
        Question::ClaimRun { host, run, now } => {
            let claimed = store.claim_run(&HOSTS[*host].into(), RUNS[*run], Timestamp(*now)).await;
            if let Ok(Claim::Leased(lease)) = &claimed {
                learn(leases, std::slice::from_ref(lease));
            }
            format!("{claimed:?}")
        }
        Question::Release { run, wake_at } => {
            format!("{:?}", store.release(&lease(leases, *run), wake_at.map(Timestamp)).await)
        }
        Question::Abandon(run) => {
            format!("{:?}", store.abandon(&lease(leases, *run), Timestamp(5), notices(2)).await)
        }
        Question::NextDue(host) => format!("{:?}", store.next_due(wanted(*host, 0, 9, None)).await),
        Question::Heartbeat(host, until) => {
            format!("{:?}", store.heartbeat(&HOSTS[*host].into(), Timestamp(*until)).await)
        }
        other => about_entries(store, leases, other).await,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_file_answers_as_the_memory_does(all in prop::collection::vec(asked_of_hosts(), 1..60)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let memory = Memory::new(u64::MAX);
        let (_dir, file) = in_file();
        let path = file.path();
        let mut file = Some(file);
        let mut leases = [LeasesByRun::new(), LeasesByRun::new()];
        for asked in &all {
            if matches!(asked, Question::Reopen) {
                drop(file.take());
                file = Some(Sqlite::open(&path).unwrap());
                // All other hosts that had the file are gone.
                for host in HOSTS {
                    runtime.block_on(memory.heartbeat(&host.into(), Timestamp(0))).unwrap();
                }
            }
            let expected = runtime.block_on(answered(&memory, &mut leases[0], asked));
            let found = runtime.block_on(answered(file.as_ref().unwrap(), &mut leases[1], asked));
            prop_assert_eq!(found, expected, "{:?}", asked);
        }
    }

    #[cfg(feature = "postgres")]
    #[test]
    fn the_database_answers_as_the_memory_does(all in prop::collection::vec(asked(), 1..60)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let memory = Memory::new(u64::MAX);
        let Some(server) = server::server() else { return Ok(()) };
        let url = postgres::fresh(server);
        let mut store = Some(postgres::opened(&url));
        let mut leases = [LeasesByRun::new(), LeasesByRun::new()];
        for asked in &all {
            if matches!(asked, Question::Reopen) {
                drop(store.take());
                store = Some(postgres::opened(&url));
            }
            let expected = runtime.block_on(answered(&memory, &mut leases[0], asked));
            let found = runtime.block_on(answered(store.as_ref().unwrap(), &mut leases[1], asked));
            prop_assert_eq!(found, expected, "{:?}", asked);
        }
    }
}
