//! Contract of every store.

use super::{
    super::{AttemptLog, Filter},
    *,
};

/// Jobs that are queued together are judged run by run, and counted for their own namespace: new runs, others, chains, and
/// refusals.
#[tokio::test]
async fn records_of_all_kinds_at_once_fare_each_by_itself() {
    on_each(async |store| {
        for run_id in ["on", "chain", "late", "ends"] {
            append(store, run_id, 0, b"1").await.unwrap();
        }
        let other = RunHead { namespace: "other".into(), ..(*head("new")).clone() };
        let body = |text: &[u8]| Arc::new(text.to_vec()) as Arc<dyn Encode>;
        let answers = [
            append(store, "busy", 0, b"1"),
            append(store, "on", 1, b"22"),
            append(store, "late", 5, b"none"),
            store.put(Arc::new(other), RUNNING, record(0, 1, body(b"333"))),
            append(store, "chain", 1, b"4444"),
            append(store, "chain", 2, b"55555"),
            append(store, "on", 0, b"none"),
            store.put(head("ends"), SUCCEEDED, record(1, 1, body(b"666666"))),
        ];
        let mut taken = Vec::new();
        for answer in answers {
            taken.push(answer.await.is_ok());
        }
        assert_eq!(taken, [true, true, false, true, true, true, false, true]);
        for (run_id, expected) in
            [("on", &[0, 1][..]), ("late", &[0]), ("new", &[0]), ("chain", &[0, 1, 2]), ("ends", &[0, 1])]
        {
            assert_eq!(seqs(store, run_id).await, expected, "{run_id}");
        }
        let stored = store.stored(Vec::new()).await.unwrap();
        assert_eq!(stored, [("default".into(), 22), ("other".into(), 3)].into());
    })
    .await;
}

#[tokio::test]
async fn a_journal_comes_back_whole_and_in_order() {
    on_each(async |store| {
        let large: Vec<u8> = (0..300_000_u32).flat_map(u32::to_le_bytes).collect();
        let bodies = [&b""[..], b"\0\xff", "größer".as_bytes(), &large];
        let mut expected = Vec::new();
        for (events, body) in (1..).zip(bodies) {
            let first_seq = expected.last().map_or(0, Record::<Vec<u8>>::next_seq);
            let written = record(first_seq, events, Arc::new(body.to_vec()) as Arc<dyn Encode>);
            store.put(head("a"), RUNNING, written).await.unwrap();
            append(store, "b", u64::from(events) - 1, b"between").await.unwrap();
            expected.push(record(first_seq, events, body.to_vec()));
        }
        assert_eq!(store.load("a").await.unwrap(), expected);
        assert_eq!(store.get("a").await.unwrap().unwrap().seq, 10);
    })
    .await;
}

/// The parts of a journal are the journal, whatever their size and wherever they begin.
#[tokio::test]
async fn a_journal_comes_in_parts_as_well() {
    on_each(async |store| {
        let (mut seq, sizes) = (0, [1, 0, 500, 20, 20, 20, 1000, 3, 3]);
        for (number, size) in (1..).zip(sizes) {
            let body: Arc<dyn Encode> = Arc::new(vec![7; size]);
            store.put(head("a"), RUNNING, record(seq, number % 3 + 1, body)).await.unwrap();
            append(store, "other", u64::from(number) - 1, b"x").await.unwrap();
            seq += u64::from(number % 3 + 1);
        }
        for since in 0..=seq + 1 {
            let all = store.load_since("a", since).await.unwrap();
            for most in [0, 10, 45, 600, 5000] {
                let (mut read, mut next) = (Vec::new(), since);
                loop {
                    let part = store.load_part("a", next, most).await.unwrap();
                    let bytes =
                        |records: &[Record<Vec<u8>>]| records.iter().map(|one| one.body.len()).sum::<usize>();
                    let [before @ .., _last] = &*part.records else {
                        assert!(part.is_last, "{since} {most}");
                        break;
                    };
                    assert!(bytes(before) <= most, "{since} {most}");
                    next = part.records.last().unwrap().next_seq();
                    assert_eq!(part.is_last, next == seq, "{since} {most}");
                    read.extend(part.records);
                    if part.is_last {
                        break;
                    }
                }
                assert_eq!(read, all, "{since} {most}");
            }
        }
        assert!(matches!(store.load_part("none", 0, 10).await, Err(StoreError::NotFound { .. })));
    })
    .await;
}

#[tokio::test]
async fn a_record_is_taken_only_where_the_journal_ends() {
    // (events there are, first_seq of the record, taken?)
    let rows = [
        (0, 0, true),
        (0, 1, false),
        (0, u64::MAX, false),
        (3, 0, false),
        (3, 2, false),
        (3, 3, true),
        (3, 4, false),
    ];
    for (there_are, first_seq, taken) in rows {
        on_each(async |store| {
            if there_are > 0 {
                let body: Arc<dyn Encode> = Arc::new(Vec::new());
                store.put(head("a"), RUNNING, record(0, there_are, body)).await.unwrap();
            }
            let before = store.get("a").await.unwrap();
            let body: Arc<dyn Encode> = Arc::new(b"next".to_vec());
            let answer = store.put(head("a"), SUCCEEDED, record(first_seq, 1, body)).await;
            if taken {
                answer.unwrap();
                assert_eq!(store.get("a").await.unwrap().unwrap().seq, first_seq + 1);
            } else {
                assert_eq!(conflict(answer), (first_seq, u64::from(there_are)));
                assert_eq!(store.get("a").await.unwrap(), before);
            }
        })
        .await;
    }
}

#[tokio::test]
async fn the_row_says_where_the_run_stands() {
    on_each(async |store| {
        append(store, "a", 0, b"").await.unwrap();
        let other = Arc::new(RunHead { workflow: "other".into(), priority: 1, ..(*head("a")).clone() });
        let body: Arc<dyn Encode> = Arc::new(Vec::new());
        store.put(other, SUCCEEDED, record(1, 4, body)).await.unwrap();
        let row = store.get("a").await.unwrap().unwrap();
        assert_eq!((row.number, row.seq, row.status), (1, 5, SUCCEEDED));
        assert_eq!(row.head, head("a"), "what never changes is taken from the first record");
    })
    .await;
}

#[tokio::test]
async fn an_unknown_run_is_an_error_only_to_who_wants_its_journal() {
    on_each(async |store| {
        assert!(
            matches!(store.load("none").await, Err(StoreError::NotFound { run_id }) if &*run_id == "none")
        );
        assert_eq!(store.get("none").await.unwrap(), None);
        assert_eq!(store.list(Filter::default(), 9).await.unwrap(), []);
        assert_eq!(store.open_runs().await.unwrap(), []);
    })
    .await;
}

#[tokio::test]
async fn records_may_follow_before_their_predecessors_are_durable() {
    on_each(async |store| {
        let answers: Vec<_> = (0..200).map(|seq| append(store, "a", seq, b"x")).collect();
        for answer in answers {
            answer.await.unwrap();
        }
        assert_eq!(seqs(store, "a").await, Vec::from_iter(0..200));
    })
    .await;
}

#[tokio::test]
async fn what_follows_a_conflict_is_a_conflict() {
    on_each(async |store| {
        let answers = [1, 2, 0].map(|seq| append(store, "a", seq, b"x"));
        let [first, second, third] = answers;
        assert_eq!(conflict(first.await), (1, 0));
        assert_eq!(conflict(second.await), (2, 0));
        third.await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_record_is_written_whether_or_not_its_answer_is_awaited() {
    on_each(async |store| {
        drop(append(store, "a", 0, b"x"));
        append(store, "a", 1, b"y").await.unwrap();
        assert_eq!(seqs(store, "a").await, [0, 1]);
    })
    .await;
}

/// R-D4.
#[tokio::test]
async fn of_many_drivers_exactly_one_advances_a_run() {
    on_each(async |store| {
        for seq in 0..20 {
            let answers: Vec<_> = (0..8_u8).map(|driver| append(store, "a", seq, &[driver])).collect();
            let mut won = 0;
            for answer in answers {
                match answer.await {
                    Ok(()) => won += 1,
                    lost => assert_eq!(conflict(lost), (seq, seq + 1)),
                }
            }
            assert_eq!(won, 1);
        }
    })
    .await;
}

#[tokio::test]
async fn open_runs_come_by_priority_then_in_the_order_of_submission() {
    on_each(async |store| {
        let rows = [
            ("low", 0, RUNNING),
            ("a", 500, RUNNING),
            ("ended", 1000, SUCCEEDED),
            ("b", 500, RUNNING),
            ("high", 1000, RUNNING),
        ];
        for (run_id, priority, status) in rows {
            let body: Arc<dyn Encode> = Arc::new(Vec::new());
            store.put(prior(run_id, priority), status, record(0, 1, body)).await.unwrap();
        }
        let open = store.open_runs().await.unwrap();
        assert_eq!(open.iter().map(|row| &*row.head.run_id).collect::<Vec<_>>(), ["high", "a", "b", "low"]);

        // A run whose hook runs go on is open although it has ended; it closes, and may be opened again.
        for (seq, status, is_open) in
            [(1, RunStatus { open: true, ..SUCCEEDED }, true), (2, SUCCEEDED, false), (3, RUNNING, true)]
        {
            let body: Arc<dyn Encode> = Arc::new(Vec::new());
            store.put(head("a"), status, record(seq, 1, body)).await.unwrap();
            let open = store.open_runs().await.unwrap();
            assert_eq!(open.iter().any(|row| &*row.head.run_id == "a"), is_open, "{status:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn runs_are_listed_newest_first_and_filtered() {
    on_each(async |store| {
        for (run_id, namespace, workflow, status) in [
            ("1", "x", "w", RUNNING),
            ("2", "x", "v", SUCCEEDED),
            ("3", "y", "w", SUCCEEDED),
            ("4", "x", "w", SUCCEEDED),
        ] {
            let head =
                RunHead { namespace: namespace.into(), workflow: workflow.into(), ..(*head(run_id)).clone() };
            let body: Arc<dyn Encode> = Arc::new(Vec::new());
            store.put(Arc::new(head), status, record(0, 1, body)).await.unwrap();
        }
        let namespaces = vec![Arc::from("x")];
        let workflow = Some(Arc::from("w"));
        let all = Filter::default();
        let rows: [(Filter, usize, &[&str]); 15] = [
            (all.clone(), usize::MAX, &["4", "3", "2", "1"]),
            (all.clone(), 2, &["4", "3"]),
            (all.clone(), 0, &[]),
            (Filter { before: Some(3), ..all.clone() }, 9, &["2", "1"]),
            (Filter { before: Some(u64::MAX), ..all.clone() }, 1, &["4"]),
            (Filter { before: Some(0), ..all.clone() }, 9, &[]),
            (Filter { from: 2, ..all.clone() }, 9, &["4", "3", "2"]),
            (Filter { from: 2, before: Some(4), ..all.clone() }, 9, &["3", "2"]),
            (Filter { from: 5, ..all.clone() }, 9, &[]),
            (Filter { namespaces: namespaces.clone(), ..all.clone() }, 9, &["4", "2", "1"]),
            (Filter { namespaces: vec!["y".into(), "x".into()], ..all.clone() }, 2, &["4", "3"]),
            (Filter { namespaces: vec!["none".into()], ..all.clone() }, 9, &[]),
            (Filter { workflow: workflow.clone(), ..all.clone() }, 9, &["4", "3", "1"]),
            (Filter { phase: Some(Phase::Succeeded), ..all.clone() }, 9, &["4", "3", "2"]),
            (
                Filter {
                    namespaces,
                    workflow,
                    phase: Some(Phase::Succeeded),
                    before: Some(4),
                    ..all.clone()
                },
                9,
                &[],
            ),
        ];
        for (filter, limit, expected) in rows {
            let found = store.list(filter.clone(), limit).await.unwrap();
            let found: Vec<_> = found.iter().map(|row| &*row.head.run_id).collect();
            assert_eq!(found, expected, "{filter:?} limit {limit}");
        }
    })
    .await;
}
/// R-H19: a follower of a run learns that it was written to, and of no other run.
#[tokio::test]
async fn who_follows_a_run_learns_that_it_was_written_to() {
    let (_dir, file) = in_file();
    for store in [&Memory::default() as &dyn Store, &file] {
        append(store, "a", 0, b"").await.unwrap();
        let (mut of_a, of_b) = (store.follow("a"), store.follow("b"));
        assert!(!of_a.has_changed().unwrap());
        append(store, "a", 1, b"").await.unwrap();
        of_a.changed().await.unwrap();
        assert!(!of_b.has_changed().unwrap());
        drop(of_a);
        append(store, "a", 2, b"").await.unwrap();
        let mut again = store.follow("a");
        assert!(!again.has_changed().unwrap());
        append(store, "a", 3, b"").await.unwrap();
        again.changed().await.unwrap();
    }
}

/// R-H19: so it does of a write that was queued before it followed the run, and is durable afterwards only.
#[tokio::test]
async fn a_follower_learns_of_a_write_that_was_queued_before() {
    let (_dir, file) = in_file();
    append(&file, "a", 0, b"").await.unwrap();
    let other = rusqlite::Connection::open(file.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let queued = append(&file, "a", 1, b"");
    let following = file.follow("a");
    assert_eq!(file.get("a").await.unwrap().unwrap().seq, 1, "it is not written yet");
    other.execute_batch("ROLLBACK").unwrap();
    queued.await.unwrap();
    assert!(following.has_changed().unwrap());
}

/// Also by when they were submitted, by a label, and those alone that are open; by labels after others were deleted, too.
#[tokio::test]
async fn runs_are_found_by_labels_and_times() {
    on_each(async |store| {
        for (run_id, submitted_at, labels, status) in [
            ("1", 10, &[("team", "a")][..], SUCCEEDED),
            ("2", 30, &[("team", "b"), ("env", "a")], RUNNING),
            ("3", 20, &[("team", "a"), ("env", "x")], RUNNING),
            ("4", 40, &[], SUCCEEDED),
        ] {
            let labels = labels.iter().map(|(key, value)| (Arc::from(*key), Arc::from(*value))).collect();
            let head = RunHead { submitted_at: Timestamp(submitted_at), labels, ..(*head(run_id)).clone() };
            let body: Arc<dyn Encode> = Arc::new(Vec::new());
            store.put(Arc::new(head), status, record(0, 1, body)).await.unwrap();
        }
        let all = Filter::default();
        let label =
            |key: &str, value: &str| Filter { label: Some((key.into(), value.into())), ..Filter::default() };
        let rows: [(Filter, &[&str]); 10] = [
            (Filter { since: Some(Timestamp(20)), ..all.clone() }, &["4", "3", "2"]),
            (Filter { open: true, ..all.clone() }, &["3", "2"]),
            (Filter { since: Some(Timestamp(20)), from: 3, ..all.clone() }, &["4", "3"]),
            (Filter { open: true, from: 3, ..all.clone() }, &["3"]),
            (Filter { from: 2, ..label("team", "a") }, &["3"]),
            (label("team", "a"), &["3", "1"]),
            (label("env", "a"), &["2"]),
            (label("env", "b"), &[]),
            (Filter { since: Some(Timestamp(20)), ..label("team", "a") }, &["3"]),
            (Filter { open: true, before: Some(3), ..label("team", "b") }, &["2"]),
        ];
        for (filter, expected) in rows {
            let found = store.list(filter.clone(), 9).await.unwrap();
            let found: Vec<_> = found.iter().map(|row| &*row.head.run_id).collect();
            assert_eq!(found, expected, "{filter:?}");
        }
        assert_eq!(store.get("3").await.unwrap().unwrap().head.labels.len(), 2);
        assert!(store.delete("1").await.unwrap());
        assert_eq!(store.list(label("team", "a"), 9).await.unwrap().len(), 1);
    })
    .await;
}

/// R-A4: runs of namespaces are found without those between them, and only by labels that they have.
#[tokio::test]
async fn runs_of_namespaces_are_found_as_if_there_were_no_others() {
    on_each(async |store| {
        for number in 0..12_u64 {
            let labels = [("even".into(), (number % 2 == 0).to_string().into())].into();
            let namespace = ["a", "b", "c"][number as usize % 3].into();
            let submitted_at = Timestamp(number as i64);
            let head = RunHead { namespace, labels, submitted_at, ..(*head(&number.to_string())).clone() };
            let status = if number > 5 { RUNNING } else { SUCCEEDED };
            let body: Arc<dyn Encode> = Arc::new(Vec::new());
            store.put(Arc::new(head), status, record(0, 1, body)).await.unwrap();
        }
        let first = store.get("0").await.unwrap().unwrap().number;
        let numbers = |found: &[u64]| found.iter().map(|number| number - first).collect::<Vec<_>>();
        for (namespace, before, limit, expected) in [
            ("a", u64::MAX, 9, &[9, 6, 3, 0][..]),
            ("a", first + 6, 9, &[3, 0]),
            ("c", i64::MAX as u64, 2, &[11, 8]),
            ("d", u64::MAX, 9, &[]),
        ] {
            let found = store.numbers(namespace, before, limit).await.unwrap();
            assert_eq!(numbers(&found), expected, "{namespace} {before} {limit}");
        }
        let of = |names: &[&str]| Filter {
            namespaces: names.iter().map(|name| Arc::from(*name)).collect(),
            ..Filter::default()
        };
        let even = Some(("even".into(), "true".into()));
        let rows: [(Filter, usize, &[u64]); 8] = [
            (of(&["a", "c", "a"]), 5, &[11, 9, 8, 6, 5]),
            (Filter { before: Some(first + 8), ..of(&["c", "b"]) }, 3, &[7, 5, 4]),
            (Filter { from: first + 3, ..of(&["a"]) }, 9, &[9, 6, 3]),
            (Filter { from: first + 3, open: true, ..of(&["a", "b"]) }, 9, &[10, 9, 7, 6]),
            (Filter { open: true, ..of(&["a"]) }, 9, &[9, 6]),
            (Filter { since: Some(Timestamp(4)), ..of(&["b"]) }, 9, &[10, 7, 4]),
            (Filter { label: even.clone(), ..of(&["a", "b"]) }, 9, &[10, 6, 4, 0]),
            (
                Filter { label: even, from: first + 1, phase: Some(Phase::Succeeded), ..of(&["a", "b"]) },
                9,
                &[4],
            ),
        ];
        for (filter, limit, expected) in rows {
            let found = store.list(filter.clone(), limit).await.unwrap();
            let found: Vec<u64> = found.iter().map(|row| row.number).collect();
            assert_eq!(numbers(&found), expected, "{filter:?}");
        }
    })
    .await;
}

/// R-H17: what has ended comes by namespace, the first that ended first.
#[tokio::test]
async fn what_has_ended_comes_in_the_order_of_its_ends() {
    on_each(async |store| {
        for (run_id, namespace, phase, finished_at) in [
            ("a", "x", Phase::Succeeded, 30),
            ("b", "x", Phase::Failed, 10),
            ("c", "y", Phase::Succeeded, 5),
            ("d", "x", Phase::Succeeded, 20),
        ] {
            let head = RunHead { namespace: namespace.into(), ..(*head(run_id)).clone() };
            let status = RunStatus { phase, finished_at: Some(Timestamp(finished_at)), ..SUCCEEDED };
            let body: Arc<dyn Encode> = Arc::new(Vec::new());
            store.put(Arc::new(head), status, record(0, 1, body)).await.unwrap();
        }
        append(store, "open", 0, b"").await.unwrap();
        assert_eq!(store.namespaces().await.unwrap(), ["x", "y"].map(Arc::from));
        let rows: [(Option<Phase>, usize, u64, &[&str]); 3] = [
            (None, 9, 3, &["b", "d", "a"]),
            (None, 2, 3, &["b", "d"]),
            (Some(Phase::Succeeded), 9, 2, &["d", "a"]),
        ];
        for (phase, limit, count, expected) in rows {
            let (all, found) = store.ended("x", phase, limit).await.unwrap();
            let found: Vec<_> = found.iter().map(|row| &*row.head.run_id).collect();
            assert_eq!((all, found.as_slice()), (count, expected), "{phase:?}");
        }
    })
    .await;
}

/// R-H18: a run that cannot be continued is ended by its row alone, and may be deleted.
#[tokio::test]
async fn a_run_is_abandoned_by_its_row() {
    on_each(async |store| {
        append(store, "a", 0, b"unread").await.unwrap();
        let letter = store.post("a", b"?".to_vec()).await.unwrap();
        let lease = Lease::first(head("a"), here());
        let stale = Lease { epoch: 0, ..lease.clone() };
        assert!(matches!(
            store.abandon(&stale, Timestamp(7), Vec::new()).await,
            Err(StoreError::LeaseLost { .. })
        ));
        store.abandon(&lease, Timestamp(7), Vec::new()).await.unwrap();
        let row = store.get("a").await.unwrap().unwrap();
        let error =
            RunStatus { phase: Phase::Error, finished_at: Some(Timestamp(7)), open: false, rest: None };
        assert_eq!((row.status, row.owner, row.wake_at), (error, None, None));
        assert_eq!(store.answer("a", letter).await.unwrap(), super::super::Answer::Ended);
        assert!(matches!(
            store.abandon(&lease, Timestamp(8), Vec::new()).await,
            Err(StoreError::Closed { .. })
        ));
        assert!(store.delete("a").await.unwrap());
    })
    .await;
}

/// R-Q9: what is kept of each namespace is counted with every record and log, and goes with the runs.
#[tokio::test]
async fn what_is_kept_of_a_namespace_is_counted() {
    on_each(async |store| {
        let of = |run_id: &str, namespace: &str| {
            Arc::new(RunHead { namespace: namespace.into(), ..(*head(run_id)).clone() })
        };
        let body = |bytes: usize| Arc::new(vec![b'x'; bytes]) as Arc<dyn Encode>;
        for (run_id, namespace, sizes) in
            [("a", "acme", [10, 200]), ("b", "acme", [1, 0]), ("c", "other", [7, 7])]
        {
            for (seq, bytes) in (0..).zip(sizes) {
                let status = if seq == 0 { RUNNING } else { SUCCEEDED };
                store.put(of(run_id, namespace), status, record(seq, 1, body(bytes))).await.unwrap();
            }
        }
        let acme = || async { store.stored(vec!["acme".into(), "none".into()]).await.unwrap() };
        let counted =
            |bytes: &[(&str, u64)]| bytes.iter().map(|(name, bytes)| (Arc::from(*name), *bytes)).collect();
        assert_eq!(store.stored(Vec::new()).await.unwrap(), counted(&[("acme", 211), ("other", 14)]));
        store.put(of("d", "acme"), RUNNING, record(0, 1, body(0))).await.unwrap();
        let log = |bytes| AttemptLog {
            task: 0,
            attempt: 1,
            dispatch: 1,
            cut: 0,
            text: vec![b'y'; bytes],
            damaged: false,
        };
        for bytes in [50, 30] {
            store.keep_log(&Lease::first(of("d", "acme"), here()), log(bytes)).await.unwrap();
            assert_eq!(acme().await, counted(&[("acme", 211 + bytes as u64)]));
        }
        // A refused record counts nothing.
        conflict(store.put(of("d", "acme"), RUNNING, record(7, 1, body(1000))).await);
        assert!(store.delete("a").await.unwrap());
        assert_eq!(acme().await, counted(&[("acme", 31)]));
        assert!(store.delete("b").await.unwrap() && store.delete("c").await.unwrap());
        assert_eq!(store.stored(Vec::new()).await.unwrap(), counted(&[("acme", 30)]));
    })
    .await;
}

/// R-Q10: the note about tenants can be read, and is replaced as a whole.
#[tokio::test]
async fn what_is_left_about_tenants_is_kept() {
    on_each(async |store| {
        assert_eq!(store.tenants().await.unwrap(), None);
        for text in ["{}", "{\"acme\":{}}"] {
            store.keep_tenants(text.into()).await.unwrap();
            assert_eq!(store.tenants().await.unwrap().as_deref(), Some(text));
        }
    })
    .await;
}

/// R-L15: the log of an attempt is written with the record that ends it, or not at all; in place of an earlier one.
#[tokio::test]
async fn a_log_shares_the_fate_of_its_record() {
    let log = |attempt, text: &str| AttemptLog {
        task: 0,
        attempt,
        dispatch: 1,
        cut: 0,
        text: text.as_bytes().to_vec(),
        damaged: false,
    };
    on_each(async |store| {
        let write = |lease: &Lease, seq, logs: Vec<AttemptLog>| {
            let body: Arc<dyn Encode> = Arc::new(b"x".to_vec());
            let status = if seq == 3 { SUCCEEDED } else { RUNNING };
            store.append(lease, status, Record { logs, ..record(seq, 1, body) }, Vec::new())
        };
        let lease = Lease::first(head("a"), here());
        append(store, "a", 0, b"x").await.unwrap();
        // Records of one run and of others in one transaction.
        append(store, "b", 0, b"x").await.unwrap();
        let (one, two) =
            (write(&lease, 1, vec![log(1, "one"), log(2, "two")]), write(&lease, 2, vec![log(1, "uno")]));
        let refused = write(&lease, 1, vec![log(3, "refused")]);
        one.await.unwrap();
        two.await.unwrap();
        conflict(refused.await);
        let fenced = write(&Lease { epoch: 9, ..lease.clone() }, 3, vec![log(4, "fenced")]);
        assert!(matches!(fenced.await, Err(StoreError::LeaseLost { .. })));
        assert_eq!(store.logs("a", None).await.unwrap(), [log(1, "uno"), log(2, "two")]);
        let all = store.stored(Vec::new()).await.unwrap();
        assert_eq!(all.values().copied().collect::<Vec<_>>(), [4 + 6], "bytes of four records and two logs");
        write(&lease, 3, Vec::new()).await.unwrap();
        assert!(store.delete("a").await.unwrap());
        let left = store.stored(Vec::new()).await.unwrap();
        assert_eq!(left.values().copied().collect::<Vec<_>>(), [1]);
    })
    .await;
}

/// R-L13: a run's row has the remark of its last record.
#[tokio::test]
async fn a_row_has_the_remark_of_the_last_record() {
    on_each(async |store| {
        let put = |seq, status, remark: Option<&str>| {
            let body: Arc<dyn Encode> = Arc::new(b"x".to_vec());
            let remark = remark.map(Arc::from);
            store.put(head("a"), status, Record { remark, ..record(seq, 1, body) })
        };
        let remark = async || store.get("a").await.unwrap().unwrap().remark;
        put(0, RUNNING, None).await.unwrap();
        assert_eq!(remark().await, None);
        put(1, SUCCEEDED, Some("1 of 2 failed (tolerated)")).await.unwrap();
        assert_eq!(remark().await.as_deref(), Some("1 of 2 failed (tolerated)"));
        assert_eq!(store.list(Filter::default(), 9).await.unwrap()[0].remark, remark().await);
        put(2, SUCCEEDED, None).await.unwrap();
        assert_eq!(remark().await, None);
    })
    .await;
}
