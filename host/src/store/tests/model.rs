//! Whatever is asked in whatever order, the file and the database answer as the memory does.

use proptest::prelude::*;

use super::{super::Filter, *};

const RUNS: [&str; 4] = ["a", "b", "c", "d"];

#[derive(Clone, Debug)]
enum Asked {
    /// `ahead` of where the run's journal ends: mostly 0.
    Append {
        run: usize,
        ahead: i64,
        events: u32,
        body: Vec<u8>,
        phase: usize,
        finished: Option<i64>,
        open: bool,
    },
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
}

fn asked() -> impl Strategy<Value = Asked> {
    let run = 0..RUNS.len();
    let append = (
        run.clone(),
        prop_oneof![8 => Just(0_i64), 1 => -2..3_i64],
        1..4_u32,
        prop::collection::vec(any::<u8>(), 0..40),
        0..Phase::ALL.len(),
        any::<Option<i64>>(),
        prop::bool::weighted(0.8),
    );
    prop_oneof![
        12 => append.prop_map(|(run, ahead, events, body, phase, finished, open)| {
            Asked::Append { run, ahead, events, body, phase, finished, open }
        }),
        2 => run.clone().prop_map(Asked::Load),
        2 => run.prop_map(Asked::Get),
        2 => (prop::option::of(0..Phase::ALL.len()), prop::option::of(0..6_u64), 0..6_usize)
            .prop_map(|(phase, before, limit)| Asked::List { phase, before, limit }),
        2 => Just(Asked::Open),
        1 => Just(Asked::Reopen),
    ]
}

async fn answered(store: &dyn Store, asked: &Asked) -> String {
    match asked {
        Asked::Append { run, ahead, events, body, phase, finished, open } => {
            let seq = store.get(RUNS[*run]).await.unwrap().map_or(0, |row| row.seq);
            let finished_at = finished.map(Timestamp);
            let status = RunStatus { phase: Phase::ALL[*phase], finished_at, open: *open };
            let body: Arc<dyn Encode> = Arc::new(body.clone());
            let head = prior(RUNS[*run], u16::try_from(*run / 2).unwrap());
            let record = record(seq.saturating_add_signed(*ahead), *events, body);
            format!("{:?}", store.put(head, status, record).await)
        }
        Asked::Load(run) => format!("{:?}", store.load(RUNS[*run]).await),
        Asked::Get(run) => format!("{:?}", store.get(RUNS[*run]).await),
        Asked::List { phase, before, limit } => {
            let phase = phase.map(|phase| Phase::ALL[phase]);
            format!("{:?}", store.list(Filter { phase, before: *before, ..Filter::default() }, *limit).await)
        }
        Asked::Open => format!("{:?}", store.open_runs().await),
        Asked::Reopen => String::new(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_file_answers_as_the_memory_does(all in prop::collection::vec(asked(), 1..60)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let memory = Memory::new(u64::MAX);
        let (_dir, file) = in_file();
        let path = file.path();
        let mut file = Some(file);
        for asked in &all {
            if matches!(asked, Asked::Reopen) {
                drop(file.take());
                file = Some(Sqlite::open(&path).unwrap());
            }
            let expected = runtime.block_on(answered(&memory, asked));
            let found = runtime.block_on(answered(file.as_ref().unwrap(), asked));
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
        for asked in &all {
            if matches!(asked, Asked::Reopen) {
                drop(store.take());
                store = Some(postgres::opened(&url));
            }
            let expected = runtime.block_on(answered(&memory, asked));
            let found = runtime.block_on(answered(store.as_ref().unwrap(), asked));
            prop_assert_eq!(found, expected, "{:?}", asked);
        }
    }
}
