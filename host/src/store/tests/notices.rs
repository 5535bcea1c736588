//! Notifications: kept until delivery, and claimed by one worker.

use super::{
    super::{CatalogKind, Change, EntryName, NewNotice, NoticeId, NoticeRow, Notices, Outbox, Settle},
    *,
};

fn new(seq: u64, endpoint: &str, due: i64) -> NewNotice {
    NewNotice { seq, endpoint: endpoint.into(), due: Timestamp(due), body: format!("{endpoint}{seq}").into() }
}

fn told(seq: u64, notices: &[NewNotice]) -> Record<Arc<dyn Encode>> {
    Record { notices: notices.to_vec(), ..record(seq, 1, Arc::new(b"x".to_vec()) as _) }
}

fn settle(notice: &NoticeRow, due: Option<i64>, body: &str) -> Settle {
    let (id, from) = (notice.id.clone(), notice.revision);
    Settle { id, from, due: due.map(Timestamp), body: body.into() }
}

fn of(run: &str) -> Notices {
    Notices { run_id: run.into(), endpoint: None, before: None, limit: 9 }
}

async fn due(store: &dyn Store, endpoint: &str) -> Vec<String> {
    let found = store.due_notices(endpoint, 9).await.unwrap();
    found.iter().map(|notice| notice.id.to_string()).collect()
}

async fn kept(store: &dyn Store, wanted: Notices) -> Vec<String> {
    let found = store.notices(wanted).await.unwrap();
    found.iter().map(|notice| notice.id.to_string()).collect()
}

/// R-Y2: there are both or neither.
#[tokio::test]
async fn a_record_and_its_notices_are_both_kept_or_neither() {
    on_each(async |store| {
        store.put(head("a"), RUNNING, told(0, &[new(0, "chat", 5), new(0, "mail", 4)])).await.unwrap();
        assert_eq!(conflict(store.put(head("a"), RUNNING, told(0, &[new(7, "chat", 1)])).await), (0, 1));
        let stale = Lease { epoch: 9, ..Lease::first(head("a"), here()) };
        let fenced = store.append(&stale, RUNNING, told(1, &[new(8, "chat", 1)]), Vec::new()).await;
        assert!(matches!(fenced, Err(StoreError::LeaseLost { .. })), "{fenced:?}");
        assert_eq!(due(store, "chat").await, ["a_0_chat"]);
        assert_eq!(due(store, "mail").await, ["a_0_mail"]);
        let first = store.due_notices("chat", 9).await.unwrap().remove(0);
        let id = NoticeId { run_id: "a".into(), seq: 0, endpoint: "chat".into() };
        assert_eq!(
            first,
            NoticeRow { id, revision: 1, due: Some(Timestamp(5)), body: "chat0".into(), damaged: false }
        );
        assert_eq!(store.load("a").await.unwrap()[0].notices, []);
    })
    .await;
}

/// R-Y2: of several records that are written at once, those that are taken have their notices.
#[tokio::test]
async fn of_records_at_once_each_has_its_own_notices() {
    on_each(async |store| {
        append(store, "there", 0, b"x").await.unwrap();
        let writing: Vec<_> = ["a", "there", "b", "c"]
            .into_iter()
            .map(|run| store.put(head(run), RUNNING, told(0, &[new(0, "chat", 1)])))
            .collect();
        let mut taken = Vec::new();
        for written in writing {
            taken.push(written.await.is_ok());
        }
        assert_eq!(taken, [true, false, true, true]);
        assert_eq!(due(store, "chat").await, ["a_0_chat", "b_0_chat", "c_0_chat"]);
    })
    .await;
}

/// R-Y2: the same holds for a run that a schedule fires, and for one that is ended because it cannot be read.
#[tokio::test]
async fn what_is_fired_or_abandoned_is_told_of() {
    on_each(async |store| {
        let name = EntryName { shelf: CatalogKind::Schedules, namespace: "default".into(), name: "s".into() };
        let change = |from| Change { name: name.clone(), from, due: None, body: "{}".into(), texts: None };
        let lease = Lease::first(head("a"), here());
        let refused = store.fire(&lease, RUNNING, told(0, &[new(0, "chat", 1)]), change(7)).await;
        assert!(matches!(refused, Err(StoreError::Moved { .. })));
        assert_eq!(due(store, "chat").await, [""; 0]);
        store.fire(&lease, RUNNING, told(0, &[new(0, "chat", 1)]), change(0)).await.unwrap();
        let stale = Lease { epoch: 9, ..lease.clone() };
        assert!(store.abandon(&stale, Timestamp(3), vec![new(5, "chat", 3)]).await.is_err());
        store.abandon(&lease, Timestamp(3), vec![new(1, "chat", 3), new(1, "mail", 3)]).await.unwrap();
        assert_eq!(due(store, "chat").await, ["a_0_chat", "a_1_chat"]);
        assert_eq!(due(store, "mail").await, ["a_1_mail"]);
    })
    .await;
}

/// R-Y3: of those who claim one revision of a notice one has it.
#[tokio::test]
async fn of_many_who_claim_a_notice_one_has_it() {
    on_each(async |store| {
        store.put(head("a"), RUNNING, told(0, &[new(0, "chat", 1)])).await.unwrap();
        let seen = store.due_notices("chat", 1).await.unwrap().remove(0);
        let claims: Vec<_> = (0..8).map(|host| store.settle(settle(&seen, Some(50 + host), "x"))).collect();
        let mut claimed = 0;
        for claim in claims {
            claimed += usize::from(claim.await.unwrap());
        }
        assert_eq!(claimed, 1);
        let now = store.due_notices("chat", 1).await.unwrap().remove(0);
        assert_eq!(now.revision, 2);
        assert!(store.settle(settle(&now, None, "done")).await.unwrap());
        assert!(!store.settle(settle(&now, Some(1), "again")).await.unwrap());
        assert_eq!(due(store, "chat").await, [""; 0]);
        let kept = store.notices(of("a")).await.unwrap().remove(0);
        assert_eq!((kept.revision, kept.due, &*kept.body), (3, None, "done"));
    })
    .await;
}

#[tokio::test]
async fn notices_come_by_when_they_are_due_and_by_run() {
    on_each(async |store| {
        let all = [new(0, "chat", 5), new(1, "chat", 3), new(1, "mail", 1), new(2, "chat", 4)];
        store.put(head("a"), RUNNING, told(0, &all)).await.unwrap();
        store.put(head("b"), RUNNING, told(0, &[new(0, "chat", 3)])).await.unwrap();
        assert_eq!(due(store, "chat").await, ["a_1_chat", "b_0_chat", "a_2_chat", "a_0_chat"]);
        assert_eq!(store.due_notices("chat", 2).await.unwrap().len(), 2);
        assert_eq!(kept(store, of("a")).await, ["a_2_chat", "a_1_mail", "a_1_chat", "a_0_chat"]);
        assert_eq!(kept(store, Notices { limit: 2, ..of("a") }).await, ["a_2_chat", "a_1_mail"]);
        let chat = Notices { endpoint: Some("chat".into()), before: Some(2), ..of("a") };
        assert_eq!(kept(store, chat).await, ["a_1_chat", "a_0_chat"]);
        assert_eq!(kept(store, of("c")).await, [""; 0]);
    })
    .await;
}

/// R-Y3: what was delivered goes with its run, what was not is delivered all the same, and leaves nothing.
#[tokio::test]
async fn what_is_to_be_delivered_outlives_its_run() {
    on_each(async |store| {
        let all = [new(0, "chat", 1), new(1, "chat", 2)];
        store.put(head("a"), SUCCEEDED, told(0, &all)).await.unwrap();
        let first = store.due_notices("chat", 9).await.unwrap().remove(0);
        assert!(store.settle(settle(&first, None, "done")).await.unwrap());
        assert!(store.delete("a").await.unwrap());
        assert_eq!(kept(store, of("a")).await, ["a_1_chat"]);
        let second = store.due_notices("chat", 9).await.unwrap().remove(0);
        assert!(store.settle(settle(&second, Some(9), "later")).await.unwrap());
        let second = store.due_notices("chat", 9).await.unwrap().remove(0);
        assert!(store.settle(settle(&second, None, "done")).await.unwrap());
        assert_eq!(kept(store, of("a")).await, [""; 0]);
    })
    .await;
}

/// R-Y3: a delivery worker is notified of new notifications only.
#[tokio::test]
async fn who_delivers_hears_of_what_is_new() {
    let (_dir, file) = in_file();
    for store in [&Memory::default() as &dyn Store, &file] {
        let mut changed = store.notices_changed();
        append(store, "a", 0, b"").await.unwrap();
        assert!(!changed.has_changed().unwrap());
        store.put(head("a"), RUNNING, told(1, &[new(1, "chat", 1)])).await.unwrap();
        changed.changed().await.unwrap();
    }
}

/// Hosts of one database hear what others have to tell.
#[cfg(feature = "postgres")]
#[tokio::test]
async fn who_delivers_hears_of_what_others_wrote() {
    let Some(server) = server::server() else { return };
    let url = postgres::fresh(server);
    let (one, two) = (postgres::opened(&url), postgres::opened(&url));
    let mut changed = two.notices_changed();
    // A new listener may have missed some.
    for seq in 0.. {
        one.put(head("a"), RUNNING, told(seq, &[new(seq, "chat", 1)])).await.unwrap();
        let heard = tokio::time::timeout(std::time::Duration::from_millis(100), changed.changed());
        if heard.await.is_ok() && due(&two, "chat").await.len() as u64 == seq + 1 {
            break;
        }
    }
}

/// R-Y9: which endpoints something waits for, by name, and until when the last of it does.
#[tokio::test]
async fn endpoints_that_something_waits_for_are_found_one_by_one() {
    on_each(async |store| {
        let after = async |endpoint: &str| {
            store.endpoint_after(endpoint).await.unwrap().map(|(name, due)| (name.to_string(), due.0))
        };
        assert_eq!(after("").await, None);
        store.put(head("a"), RUNNING, told(0, &[new(0, "chat", 5), new(0, "mail", 4)])).await.unwrap();
        store.put(head("b"), RUNNING, told(0, &[new(0, "chat", 9), new(0, "pager", 1)])).await.unwrap();
        assert_eq!(after("").await, Some(("chat".to_owned(), 9)));
        assert_eq!(after("chat").await, Some(("mail".to_owned(), 4)));
        assert_eq!(after("mailx").await, Some(("pager".to_owned(), 1)));
        assert_eq!(after("pager").await, None);
        let mail = store.due_notices("mail", 1).await.unwrap().remove(0);
        assert!(store.settle(settle(&mail, None, "x")).await.unwrap());
        assert_eq!(after("chat").await, Some(("pager".to_owned(), 1)), "nothing waits for it");
    })
    .await;
}
