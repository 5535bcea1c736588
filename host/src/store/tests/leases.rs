//! Leases: the right to write to a run, and to continue it.

use super::{
    super::{Claim, ClaimRequest, Note, Rest},
    *,
};

fn wanted(host: &str, now: i64) -> ClaimRequest {
    ClaimRequest { host: host.into(), now: Timestamp(now), limit: 10, except: Vec::new() }
}

fn names(leases: &[Lease]) -> Vec<&str> {
    leases.iter().map(|lease| &*lease.head.run_id).collect()
}

/// Returns a run without an owner, due at that time.
async fn released(store: &dyn Store, run: Arc<RunHead>, wake_at: Option<i64>) {
    let lease = Lease::first(run, here());
    let body: Arc<dyn Encode> = Arc::new(Vec::new());
    store.append(&lease, RUNNING, record(0, 1, body), Vec::new()).await.unwrap();
    store.release(&lease, wake_at.map(Timestamp)).await.unwrap();
}

/// R-H1: the reason why a host left a run stays until a host owns the run, and no longer.
#[tokio::test]
async fn a_run_that_is_left_says_why_until_somebody_has_it() {
    on_each(async |store| {
        released(store, head("a"), Some(10)).await;
        let note = async || store.get("a").await.unwrap().unwrap().note;
        assert_eq!(note().await, None);
        let claimed = store.claim(wanted("b", 10)).await.unwrap();
        let lacks = Note { why: "no grant".into(), since: Timestamp(10) };
        store.leave(&claimed[0], Some(Timestamp(10)), lacks.clone()).await.unwrap();
        assert_eq!(note().await, Some(lacks.clone()));
        let old = Lease { epoch: 1, ..claimed[0].clone() };
        let refused = store.leave(&old, None, lacks).await.unwrap_err();
        assert!(matches!(refused, StoreError::LeaseLost { .. }), "{refused:?}");
        let again = store.claim(wanted("c", 10)).await.unwrap();
        assert_eq!((again.len(), note().await), (1, None));
        // The owner may give a reason, too, until it gives another or owns the run no more.
        let (waits, seq) = (
            Note { why: "2 running at most".into(), since: Timestamp(11) },
            store.get("a").await.unwrap().unwrap().seq,
        );
        store.note(&again[0], Some(waits.clone())).await.unwrap();
        let body: Arc<dyn Encode> = Arc::new(Vec::new());
        store.append(&again[0], RUNNING, record(seq, 1, body), Vec::new()).await.unwrap();
        assert_eq!(note().await, Some(waits));
        store.release(&again[0], None).await.unwrap();
        assert_eq!(note().await, None);
    })
    .await;
}

/// R-H7.
#[tokio::test]
async fn what_a_host_has_is_told_whether_it_knows_it_or_not() {
    on_each(async |store| {
        for run in ["a", "b", "c", "d"] {
            released(store, head(run), Some(10)).await;
        }
        let owned = async |host: &str| {
            let mut owned = store.owned(&host.into()).await.unwrap();
            owned.sort_unstable();
            owned.iter().map(|run| run.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(owned("x").await, [""; 0]);
        for host in ["x", "y"] {
            store.heartbeat(&host.into(), Timestamp(1000)).await.unwrap();
        }
        drop(store.claim(ClaimRequest { limit: 3, ..wanted("x", 10) }).await.unwrap());
        drop(store.claim(wanted("y", 10)).await.unwrap());
        assert_eq!((owned("x").await.len(), owned("y").await.len()), (3, 1));
        let mine = owned("x").await;
        let Claim::Leased(lease) = store.claim_run(&"x".into(), &mine[0], Timestamp(10)).await.unwrap()
        else {
            panic!("it is its own");
        };
        store.release(&lease, None).await.unwrap();
        assert_eq!(owned("x").await, mine[1..]);
    })
    .await;
}

/// R-H1.
#[tokio::test]
async fn runs_are_claimed_when_they_are_due_and_once() {
    on_each(async |store| {
        released(store, head("late"), Some(30)).await;
        released(store, prior("low", 1), Some(10)).await;
        released(store, prior("high", 900), Some(10)).await;
        released(store, head("parked"), None).await;
        append(store, "driven", 0, b"").await.unwrap();
        store.heartbeat(&here(), Timestamp(i64::MAX)).await.unwrap();
        store.heartbeat(&"b".into(), Timestamp(60)).await.unwrap();

        assert_eq!(store.next_due(wanted("b", 0)).await.unwrap(), Some(Timestamp(10)));
        assert_eq!(store.claim(wanted("b", 9)).await.unwrap(), []);
        let claimed = store.claim(wanted("b", 10)).await.unwrap();
        assert_eq!(names(&claimed), ["high", "low"]);
        assert!(claimed.iter().all(|lease| lease.epoch == 2 && lease.host == "b".into()), "{claimed:?}");
        assert_eq!(store.claim(wanted("c", 59)).await.unwrap().len(), 1, "the late one alone");
        let row = store.get("high").await.unwrap().unwrap();
        assert_eq!((row.owner, row.wake_at), (Some("b".into()), None));
        assert_eq!(names(&store.claim(wanted("d", 60)).await.unwrap()), ["late", "high", "low"]);
    })
    .await;
}

#[tokio::test]
async fn those_that_waited_longest_are_claimed_first_and_some_not_at_all() {
    on_each(async |store| {
        for (run, at) in [("a", 3), ("b", 2), ("c", 1), ("d", 4)] {
            released(store, head(run), Some(at)).await;
        }
        let first = ClaimRequest { limit: 2, except: vec!["b".into()], ..wanted("h", 9) };
        assert_eq!(names(&store.claim(first.clone()).await.unwrap()), ["c", "a"]);
        assert_eq!(names(&store.claim(first.clone()).await.unwrap()), ["d"]);
        assert_eq!(store.next_due(first).await.unwrap(), None);
        assert_eq!(store.next_due(wanted("h", 9)).await.unwrap(), Some(Timestamp(2)));
    })
    .await;
}

/// R-H2: a host that was taken for gone and comes back changes nothing.
#[tokio::test]
async fn who_lost_a_run_is_fenced() {
    on_each(async |store| {
        append(store, "a", 0, b"x").await.unwrap();
        append(store, "b", 0, b"x").await.unwrap();
        let claimed = store.claim(wanted("other", 1)).await.unwrap();
        assert_eq!(names(&claimed), ["a", "b"], "their host is not there");

        let fenced = |error: StoreError| matches!(error, StoreError::LeaseLost { run_id } if &*run_id == "a");
        let old = Lease::first(head("a"), here());
        assert!(fenced(append(store, "a", 1, b"late").await.unwrap_err()));
        assert!(fenced(store.release(&old, None).await.unwrap_err()));
        let log = super::super::AttemptLog {
            task: 0,
            attempt: 1,
            dispatch: 1,
            cut: 0,
            text: b"late".to_vec(),
            damaged: false,
        };
        assert!(fenced(store.keep_log(&old, log).await.unwrap_err()));
        assert_eq!(seqs(store, "a").await, [0]);

        let body: Arc<dyn Encode> = Arc::new(b"on".to_vec());
        store.append(&claimed[0], SUCCEEDED, record(1, 1, body), Vec::new()).await.unwrap();
        assert_eq!(store.get("a").await.unwrap().unwrap().owner, None, "a run that has ended has no owner");
        assert_eq!(names(&store.claim(wanted("third", 99)).await.unwrap()), ["b"], "and is claimed no more");
    })
    .await;
}

#[tokio::test]
async fn one_run_is_claimed_by_its_name() {
    on_each(async |store| {
        released(store, head("parked"), None).await;
        append(store, "driven", 0, b"").await.unwrap();
        store.put(head("over"), SUCCEEDED, record(0, 1, Arc::new(Vec::new()))).await.unwrap();
        store.heartbeat(&here(), Timestamp(50)).await.unwrap();
        let claim =
            async |host: &str, run: &str, now| store.claim_run(&host.into(), run, Timestamp(now)).await;

        let leased = |claim| match claim {
            Claim::Leased(lease) => lease.epoch,
            other @ (Claim::Held(_) | Claim::Closed) => panic!("{other:?}"),
        };
        assert_eq!(leased(claim("b", "parked", 1).await.unwrap()), 2);
        assert_eq!(leased(claim("b", "parked", 1).await.unwrap()), 3, "what it did before is void");
        assert_eq!(claim("b", "driven", 49).await.unwrap(), Claim::Held(here()));
        assert_eq!(leased(claim("b", "driven", 50).await.unwrap()), 2);
        assert_eq!(claim("b", "over", 1).await.unwrap(), Claim::Closed);
        assert!(matches!(claim("b", "none", 1).await, Err(StoreError::NotFound { .. })));
    })
    .await;
}

#[tokio::test]
async fn a_submission_that_is_repeated_is_found_again() {
    on_each(async |store| {
        let submit = |run: &str, namespace: &str| {
            let keyed =
                RunHead { key: Some("k".into()), namespace: namespace.into(), ..(*head(run)).clone() };
            store.put(Arc::new(keyed), SUCCEEDED, record(0, 1, Arc::new(Vec::new())))
        };
        submit("a", "x").await.unwrap();
        match submit("b", "x").await {
            Err(StoreError::Exists { run_id }) => assert_eq!(&*run_id, "a"),
            other => panic!("{other:?}"),
        }
        assert_eq!(store.get("b").await.unwrap(), None);
        submit("c", "y").await.unwrap();
        assert_eq!(store.get("a").await.unwrap().unwrap().head.key.as_deref(), Some("k"));
        assert!(store.delete("a").await.unwrap());
        submit("d", "x").await.unwrap();
    })
    .await;
}

/// R-H6.
#[tokio::test]
async fn a_run_that_has_ended_is_deleted_with_all_that_was_kept_of_it() {
    on_each(async |store| {
        append(store, "a", 0, b"x").await.unwrap();
        let lease = Lease::first(head("a"), here());
        let log = super::super::AttemptLog {
            task: 0,
            attempt: 1,
            dispatch: 1,
            cut: 3,
            text: b"line\n".to_vec(),
            damaged: false,
        };
        store.keep_log(&lease, log.clone()).await.unwrap();
        let letter = store.post("a", b"?".to_vec()).await.unwrap();
        assert!(matches!(store.delete("a").await, Err(StoreError::StillOpen { .. })));
        let body: Arc<dyn Encode> = Arc::new(Vec::new());
        store.append(&lease, SUCCEEDED, record(1, 1, body), Vec::new()).await.unwrap();
        append(store, "b", 0, b"other").await.unwrap();
        assert_eq!(store.logs("a", Some(0)).await.unwrap(), [log]);
        assert_eq!(store.logs("a", Some(1)).await.unwrap(), []);

        assert!(store.delete("a").await.unwrap());
        assert!(!store.delete("a").await.unwrap());
        assert_eq!(store.get("a").await.unwrap(), None);
        assert_eq!(store.logs("a", None).await.unwrap(), []);
        assert_eq!(store.answer("a", letter).await.unwrap(), super::super::Answer::Unknown);
        assert_eq!(seqs(store, "b").await, [0]);
        append(store, "a", 0, b"anew").await.unwrap();
        assert_eq!(seqs(store, "a").await, [0]);
    })
    .await;
}

/// R-H16: a run that only waits is continued when its clock runs out or a request comes, not because its host is gone; and that
/// host, if it comes back, changes nothing.
#[tokio::test]
async fn what_rests_is_nobodys_once_its_host_is_gone() {
    let resting = |parked, until: Option<i64>| RunStatus {
        rest: Some(Rest { parked, until: until.map(Timestamp) }),
        ..RUNNING
    };
    for says_so in [false, true] {
        on_each(async |store| {
            let rows = [
                ("busy", RUNNING),
                ("parked", resting(true, None)),
                ("asked", resting(true, None)),
                ("later", resting(false, Some(7))),
            ];
            for (run, status) in rows {
                let body: Arc<dyn Encode> = Arc::new(Vec::new());
                store.put(head(run), status, record(0, 1, body)).await.unwrap();
            }
            store.heartbeat(&here(), Timestamp(if says_so { 0 } else { 3 })).await.unwrap();
            store.post("asked", b"?".to_vec()).await.unwrap();
            assert_eq!(store.get("parked").await.unwrap().unwrap().status, resting(true, None));

            let claimed = store.claim(wanted("there", 5)).await.unwrap();
            let mut claimed = names(&claimed);
            claimed.sort_unstable();
            assert_eq!(claimed, ["asked", "busy"]);
            assert_eq!(store.claim(wanted("there", 6)).await.unwrap(), []);
            assert_eq!(store.next_due(wanted("there", 6)).await.unwrap(), Some(Timestamp(7)));
            let row = store.get("parked").await.unwrap().unwrap();
            assert_eq!((row.owner, row.wake_at), (None, None));
            assert!(matches!(append(store, "parked", 1, b"").await, Err(StoreError::LeaseLost { .. })));
            assert_eq!(names(&store.claim(wanted("there", 7)).await.unwrap()), ["later"]);
        })
        .await;
    }
}
