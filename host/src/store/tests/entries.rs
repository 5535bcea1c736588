//! Catalog entries: saved workflows and schedules.

use super::{
    super::{
        Catalog, CatalogEntry, CatalogKind, Change, EntryName, EntryQuery, MAX_ENTRIES, MAX_TEXT_BYTES, Text,
    },
    *,
};

fn named(shelf: CatalogKind, namespace: &str, name: &str) -> EntryName {
    EntryName { shelf, namespace: namespace.into(), name: name.into() }
}

fn schedule(name: &str) -> EntryName {
    named(CatalogKind::Schedules, "default", name)
}

fn change(name: EntryName, from: u64, due: Option<i64>, body: &str) -> Change {
    Change { name, from, due: due.map(Timestamp), body: body.into(), texts: None }
}

fn text(digest: &str, bytes: Option<&[u8]>) -> Text {
    Text { digest: digest.into(), size: 3, bytes: bytes.map(Into::into) }
}

fn with_texts(change: Change, texts: &[Text]) -> Change {
    Change { texts: Some(texts.to_vec()), ..change }
}

async fn put(store: &dyn Store, name: EntryName, due: Option<i64>) -> u64 {
    store.change(with_texts(change(name, 0, due, "{}"), &[])).await.unwrap()
}

fn names(entries: &[CatalogEntry]) -> Vec<&str> {
    entries.iter().map(|entry| &*entry.name.name).collect()
}

fn moved<T: std::fmt::Debug>(result: &Result<T, StoreError>) {
    assert!(matches!(result, Err(StoreError::Moved { .. })), "{result:?}");
}

/// R-Z2: of those who change one revision of an entry, one does.
#[tokio::test]
async fn an_entry_is_changed_from_the_revision_that_was_seen() {
    on_each(async |store| {
        let name = schedule("a");
        assert_eq!(store.entry(&name).await.unwrap(), None);
        moved(&store.change(change(name.clone(), 7, None, "x")).await);
        let first = store.change(change(name.clone(), 0, Some(5), "one")).await.unwrap();
        moved(&store.change(change(name.clone(), 0, None, "x")).await);
        let second = store.change(change(name.clone(), first, Some(6), "two")).await.unwrap();
        moved(&store.change(change(name.clone(), first, None, "x")).await);
        let entry = store.entry(&name).await.unwrap().unwrap();
        let expected = CatalogEntry {
            damaged: false,
            name: name.clone(),
            revision: second,
            due: Some(Timestamp(6)),
            body: "two".into(),
        };
        assert_eq!(entry, expected);

        assert!(store.remove_entry(&name).await.unwrap());
        assert!(!store.remove_entry(&name).await.unwrap());
        let again = store.change(change(name.clone(), 0, None, "three")).await.unwrap();
        assert!(again > second, "no revision comes twice");
        moved(&store.change(change(name, second, None, "x")).await);
    })
    .await;
}

/// R-Z2: a run is fired with another revision of its schedule, or not at all.
#[tokio::test]
async fn a_run_and_the_change_it_comes_with_are_both_kept_or_neither() {
    on_each(async |store| {
        let name = schedule("a");
        let first = store.change(change(name.clone(), 0, Some(5), "one")).await.unwrap();
        let fire = |run: &str, change: Change| {
            let body: Arc<dyn Encode> = Arc::new(b"x".to_vec());
            store.fire(&Lease::first(head(run), here()), RUNNING, record(0, 1, body), change)
        };
        moved(&fire("r", change(name.clone(), first + 1, None, "x")).await);
        assert_eq!(store.get("r").await.unwrap(), None);
        let second = fire("r", change(name.clone(), first, Some(9), "two")).await.unwrap();
        assert_eq!(store.get("r").await.unwrap().unwrap().owner, Some(here()));
        assert_eq!(seqs(store, "r").await, [0]);
        // Another writer is late.
        moved(&fire("s", change(name.clone(), first, None, "x")).await);
        assert_eq!(store.get("s").await.unwrap(), None);
        // The run is there already.
        assert_eq!(conflict(fire("r", change(name.clone(), second, None, "x")).await), (0, 1));
        let entry = store.entry(&name).await.unwrap().unwrap();
        assert_eq!((entry.revision, entry.due, &*entry.body), (second, Some(Timestamp(9)), "two"));
    })
    .await;
}

/// R-Z2: many who fire at once fire once.
#[tokio::test]
async fn of_many_who_fire_at_once_one_does() {
    on_each(async |store| {
        let mut revision = put(store, schedule("a"), Some(1)).await;
        for round in 0..10 {
            let firing: Vec<_> = (0..8)
                .map(|host| {
                    let body: Arc<dyn Encode> = Arc::new(b"x".to_vec());
                    let lease = Lease::first(head(&format!("{round}-{host}")), here());
                    let change = change(schedule("a"), revision, Some(round), "{}");
                    store.fire(&lease, RUNNING, record(0, 1, body), change)
                })
                .collect();
            let mut fired = Vec::new();
            for answer in firing {
                fired.extend(answer.await.ok());
            }
            assert_eq!(fired.len(), 1);
            revision = fired[0];
        }
        assert_eq!(store.open_runs().await.unwrap().len(), 10);
    })
    .await;
}

#[tokio::test]
async fn what_is_due_comes_in_order_and_in_pages() {
    on_each(async |store| {
        for (name, due) in [("c", Some(3)), ("a", Some(5)), ("never", None), ("b", Some(3)), ("d", Some(-1))]
        {
            put(store, schedule(name), due).await;
        }
        let all = store.due_entries(None, 9).await.unwrap();
        assert_eq!(names(&all), ["d", "b", "c", "a"]);
        let page = store.due_entries(None, 2).await.unwrap();
        assert_eq!(names(&page), ["d", "b"]);
        let last = (page[1].due.unwrap(), page[1].name.clone());
        assert_eq!(names(&store.due_entries(Some(last), 9).await.unwrap()), ["c", "a"]);
    })
    .await;
}

#[tokio::test]
async fn entries_are_listed_by_namespace_and_name() {
    on_each(async |store| {
        for (shelf, namespace, name) in [
            (CatalogKind::Schedules, "x", "b"),
            (CatalogKind::Schedules, "x", "a"),
            (CatalogKind::Workflows, "x", "w"),
            (CatalogKind::Schedules, "w", "z"),
        ] {
            put(store, named(shelf, namespace, name), None).await;
        }
        let all = EntryQuery { shelf: CatalogKind::Schedules, namespace: None, after: None, limit: 9 };
        let rows: [(EntryQuery, &[&str]); 5] = [
            (all.clone(), &["z", "a", "b"]),
            (EntryQuery { limit: 2, ..all.clone() }, &["z", "a"]),
            (EntryQuery { after: Some(("x".into(), "a".into())), ..all.clone() }, &["b"]),
            (EntryQuery { namespace: Some("x".into()), ..all.clone() }, &["a", "b"]),
            (EntryQuery { shelf: CatalogKind::Workflows, ..all }, &["w"]),
        ];
        for (wanted, expected) in rows {
            assert_eq!(names(&store.entries(wanted.clone()).await.unwrap()), expected, "{wanted:?}");
        }
    })
    .await;
}

/// R-Z1: texts are kept once, and as long as an entry names them.
#[tokio::test]
async fn texts_are_kept_while_an_entry_names_them() {
    on_each(async |store| {
        let there = async |digest| store.text(digest).await.unwrap().map(|bytes| bytes.to_vec());
        let (one, two) = (text("1", Some(b"one")), text("2", Some(b"two")));
        let a = with_texts(change(schedule("a"), 0, None, "{}"), &[one.clone(), two.clone()]);
        let revision = store.change(a).await.unwrap();
        store.change(with_texts(change(schedule("b"), 0, None, "{}"), &[one])).await.unwrap();
        let revision = store.change(change(schedule("a"), revision, None, "{}")).await.unwrap();
        assert_eq!(there("2").await.as_deref(), Some(b"two".as_slice()), "they stay as they are");
        let two_alone = with_texts(change(schedule("a"), revision, None, "{}"), &[text("2", None)]);
        store.change(two_alone).await.unwrap();
        assert_eq!(there("1").await.as_deref(), Some(b"one".as_slice()), "the other names it");
        assert!(store.remove_entry(&schedule("b")).await.unwrap());
        assert_eq!((there("1").await, there("2").await.is_some()), (None, true));
        assert!(store.remove_entry(&schedule("a")).await.unwrap());
        assert_eq!(there("2").await, None);
    })
    .await;
}

/// R-Z1: a namespace has a bounded number of entries of a kind, and of bytes of their texts.
#[tokio::test]
async fn a_namespace_takes_so_much_and_no_more() {
    on_each(async |store| {
        let crowded = async |name: EntryName, size: u64, expected: &str| {
            let text = Text { size, ..text("t", Some(b"...")) };
            let refused = store.change(with_texts(change(name, 0, None, "{}"), &[text])).await;
            assert!(refused.as_ref().is_err_and(|error| error.to_string().contains(expected)), "{refused:?}");
        };
        crowded(schedule("large"), MAX_TEXT_BYTES + 1, "64 MiB of their files").await;
        let half = Text { size: MAX_TEXT_BYTES / 2 + 1, ..text("half", Some(b"...")) };
        store.change(with_texts(change(schedule("a"), 0, None, "{}"), &[half])).await.unwrap();
        crowded(schedule("b"), MAX_TEXT_BYTES / 2, "64 MiB of their files").await;

        let filling: Vec<_> = (1..MAX_ENTRIES)
            .map(|number| store.change(with_texts(change(schedule(&number.to_string()), 0, None, "{}"), &[])))
            .collect();
        for filled in filling {
            filled.await.unwrap();
        }
        crowded(schedule("more"), 1, "namespace default has 1000 of them").await;
        put(store, named(CatalogKind::Schedules, "other", "more"), None).await;
        put(store, named(CatalogKind::Workflows, "default", "more"), None).await;
        let entry = store.entry(&schedule("1")).await.unwrap().unwrap();
        let again = with_texts(change(schedule("1"), entry.revision, None, "again"), &[]);
        store.change(again).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn who_waits_for_entries_hears_of_them_alone() {
    let (_dir, file) = in_file();
    for store in [&Memory::default() as &dyn Store, &file] {
        let mut changed = store.entries_changed();
        append(store, "a", 0, b"").await.unwrap();
        store.release(&Lease::first(head("a"), here()), None).await.unwrap();
        assert!(!changed.has_changed().unwrap());
        put(store, schedule("a"), None).await;
        changed.changed().await.unwrap();
        assert!(store.remove_entry(&schedule("a")).await.unwrap());
        changed.changed().await.unwrap();
    }
}

/// Hosts of one database hear what others have changed.
#[cfg(feature = "postgres")]
#[tokio::test]
async fn who_waits_for_entries_of_a_database_hears_of_others_changes() {
    let Some(server) = server::server() else { return };
    let url = postgres::fresh(server);
    let (one, two) = (postgres::opened(&url), postgres::opened(&url));
    let mut changed = two.entries_changed();
    let mut revision = 0;
    // A new listener may have missed some.
    loop {
        revision = one.change(change(schedule("a"), revision, Some(1), "{}")).await.unwrap();
        let heard = tokio::time::timeout(std::time::Duration::from_millis(100), changed.changed());
        if heard.await.is_ok() && two.entry(&schedule("a")).await.unwrap().unwrap().revision == revision {
            break;
        }
    }
}
