//! Requests to runs from processes that do not drive them.

use super::{
    super::{Answer, ClaimRequest, MAX_LETTER_BYTES, MAX_WAITING_LETTERS, RETAINED_ANSWERS, Reply},
    *,
};

fn lease(run_id: &str) -> Lease {
    Lease::first(head(run_id), here())
}

async fn answer(store: &dyn Store, seq: u64, status: RunStatus, replies: &[(u64, &[u8])]) {
    let replies =
        replies.iter().map(|(letter, body)| Reply { letter: *letter, body: (*body).into() }).collect();
    let body: Arc<dyn Encode> = Arc::new(Vec::new());
    store.append(&lease("a"), status, record(seq, 1, body), replies).await.unwrap();
}

/// R-H4.
#[tokio::test]
async fn a_letter_is_answered_together_with_what_follows_from_it() {
    on_each(async |store| {
        append(store, "a", 0, b"").await.unwrap();
        append(store, "b", 0, b"").await.unwrap();
        let first = store.post("a", b"resume".to_vec()).await.unwrap();
        let second = store.post("a", b"cancel".to_vec()).await.unwrap();
        let other = store.post("b", b"other".to_vec()).await.unwrap();
        let waiting = store.mail(&lease("a")).await.unwrap();
        let waiting: Vec<_> = waiting.iter().map(|letter| (letter.id, &letter.body[..])).collect();
        assert_eq!(waiting, [(first, &b"resume"[..]), (second, b"cancel")]);
        assert_eq!(store.answer("a", first).await.unwrap(), Answer::Waiting);
        assert_eq!(store.mailed(Some(&here())).await.unwrap(), ["a", "b"].map(Arc::from));
        assert!(store.mailed(Some(&"another".into())).await.unwrap().is_empty());
        assert!(store.mailed(None).await.unwrap().is_empty());

        answer(store, 1, RUNNING, &[(first, b"done"), (other, b"not mine")]).await;
        assert_eq!(store.answer("a", first).await.unwrap(), Answer::Replied(b"done".to_vec()));
        assert_eq!(store.answer("b", first).await.unwrap(), Answer::Unknown);
        assert_eq!(store.answer("b", other).await.unwrap(), Answer::Waiting);
        assert_eq!(store.mail(&lease("a")).await.unwrap().len(), 1);

        answer(store, 2, SUCCEEDED, &[]).await;
        assert_eq!(store.answer("a", second).await.unwrap(), Answer::Ended);
        assert!(matches!(store.post("a", b"late".to_vec()).await, Err(StoreError::Closed { .. })));
        assert!(matches!(store.post("none", b"".to_vec()).await, Err(StoreError::NotFound { .. })));
    })
    .await;
}

#[tokio::test]
async fn a_letter_that_changes_nothing_is_answered_by_itself() {
    on_each(async |store| {
        append(store, "a", 0, b"").await.unwrap();
        let letter = store.post("a", b"?".to_vec()).await.unwrap();
        let reply = || vec![Reply { letter, body: b"no".as_slice().into() }];
        let old = Lease { epoch: 7, ..lease("a") };
        assert!(matches!(store.reply(&old, reply()).await, Err(StoreError::LeaseLost { .. })));
        assert_eq!(store.answer("a", letter).await.unwrap(), Answer::Waiting);
        store.reply(&lease("a"), reply()).await.unwrap();
        assert_eq!(store.answer("a", letter).await.unwrap(), Answer::Replied(b"no".to_vec()));
        assert_eq!(seqs(store, "a").await, [0]);
    })
    .await;
}

#[tokio::test]
async fn a_run_with_mail_is_due() {
    on_each(async |store| {
        append(store, "a", 0, b"").await.unwrap();
        store.release(&lease("a"), None).await.unwrap();
        let wanted = || ClaimRequest { host: "b".into(), now: Timestamp(5), limit: 9, except: Vec::new() };
        assert_eq!(store.next_due(wanted()).await.unwrap(), None);
        store.post("a", b"x".to_vec()).await.unwrap();
        assert!(store.next_due(wanted()).await.unwrap().is_some_and(|at| at <= Timestamp(5)));
        assert_eq!(store.claim(wanted()).await.unwrap().len(), 1);
        assert_eq!(store.next_due(wanted()).await.unwrap(), None, "its owner reads its requests");
    })
    .await;
}

/// R-H14.
#[tokio::test]
async fn what_may_be_due_is_heard_of() {
    on_each(async |store| {
        append(store, "a", 0, b"").await.unwrap();
        let mut changed = store.changed();
        changed.mark_unchanged();
        let letter = store.post("a", b"x".to_vec()).await.unwrap();
        changed.changed().await.unwrap();
        answer(store, 1, RUNNING, &[(letter, b"done")]).await;
        changed.changed().await.unwrap();
        store.release(&lease("a"), Some(Timestamp(1))).await.unwrap();
        changed.changed().await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_mailbox_has_bounds() {
    on_each(async |store| {
        append(store, "a", 0, b"").await.unwrap();
        let large = store.post("a", vec![0; MAX_LETTER_BYTES + 1]).await;
        assert!(matches!(large, Err(StoreError::TooLarge { limit: MAX_LETTER_BYTES, .. })));
        let mut letters = Vec::new();
        for _ in 0..MAX_WAITING_LETTERS {
            letters.push(store.post("a", Vec::new()).await.unwrap());
        }
        assert!(matches!(
            store.post("a", Vec::new()).await,
            Err(StoreError::MailboxFull { limit: MAX_WAITING_LETTERS, .. })
        ));

        let replies: Vec<(u64, &[u8])> = letters.iter().map(|letter| (*letter, &b"done"[..])).collect();
        answer(store, 1, RUNNING, &replies).await;
        assert_eq!(store.answer("a", letters[0]).await.unwrap(), Answer::Unknown, "not kept for ever");
        let kept = letters.len() - usize::try_from(RETAINED_ANSWERS).unwrap();
        assert_eq!(store.answer("a", letters[kept]).await.unwrap(), Answer::Replied(b"done".to_vec()));
        store.post("a", Vec::new()).await.unwrap();
    })
    .await;
}
