//! A server as a store that another Phasm looks at.

use phasm::{
    Notice, Phase, Watch,
    catalog::{self, CatalogItem, SavedWorkflow, ScheduleState},
    engine::run::RunView,
    journal,
    notify::StoredRunView,
    store::{CatalogKind, EntryQuery, Filter, ReadStore, StoreError},
};
use phasm_server::{
    client::{DocumentText, Remote},
    keys::Role,
};
use serde_json::{Value, json};
use std::sync::Arc;

use crate::{
    client::Client,
    world::{World, workflow},
};

pub(crate) fn remote(client: &Client) -> Remote {
    Remote::new(&format!("http://{}/", client.address), client.key.clone()).unwrap()
}

async fn parked_or_ended(world: &World, run: &str) {
    world.client.get(&format!("/v1/runs/{run}?wait=30s")).await.expect(200);
}

/// R-A30: rows, journals and logs are those of the store, bit by bit.
#[tokio::test]
async fn what_it_tells_is_what_its_store_holds() {
    let world = World::in_file().await;
    let (store, remote) = (Arc::clone(world.host.store()), remote(&world.client));
    let mut runs = Vec::new();
    for (namespace, kinds) in [("a", &["talk", "large"][..]), ("b", &["ok", "ask"]), ("a", &["fail"])] {
        let run = world.submit(&workflow(namespace, kinds)).await;
        parked_or_ended(&world, &run).await;
        runs.push(run);
    }
    for run in &runs {
        assert_eq!(remote.get(run).await.unwrap(), store.get(run).await.unwrap());
        assert_eq!(remote.logs(run, None).await.unwrap(), store.logs(run, None).await.unwrap());
        for since in [0, 3] {
            let (told, kept) =
                (remote.load_since(run, since).await.unwrap(), store.load_since(run, since).await.unwrap());
            assert_eq!(told, kept, "{run} from {since}");
        }
    }
    let filters = [
        Filter::default(),
        Filter { open: true, ..Filter::default() },
        Filter { phase: Some(Phase::Failed), ..Filter::default() },
        Filter { namespaces: vec!["a".into()], ..Filter::default() },
        Filter { label: Some(("team".into(), "data".into())), ..Filter::default() },
        Filter { workflow: Some("other".into()), ..Filter::default() },
    ];
    for filter in filters {
        for limit in [1, 2, 100] {
            let told = remote.list(filter.clone(), limit).await.unwrap();
            assert_eq!(told, store.list(filter.clone(), limit).await.unwrap(), "{filter:?} {limit}");
        }
    }
    assert_eq!(remote.open_runs().await.unwrap(), store.open_runs().await.unwrap());
    assert!(remote.get("none").await.unwrap().is_none());
    assert!(matches!(remote.load_since("none", 0).await, Err(StoreError::NotFound { .. })));
}

/// R-A83: what is kept by a name reads as in the store, pages and all, and is changed as by hand.
#[tokio::test]
async fn what_is_kept_is_what_its_store_keeps() {
    let world = World::in_file().await;
    let (store, remote) = (Arc::clone(world.host.store()), remote(&world.client));
    for (namespace, name) in [("a", "one"), ("a", "two"), ("b", "one")] {
        let text = crate::saved::nightly(namespace, name);
        let kept: CatalogItem<ScheduleState> = remote
            .put(
                CatalogKind::Schedules,
                (namespace, name),
                DocumentText { file: "nightly.yaml", text: &text },
            )
            .await
            .unwrap();
        assert_eq!((&*kept.name, &*kept.what.document.file), (name, "nightly.yaml"));
        let document =
            remote.document(CatalogKind::Schedules, (namespace, name), &kept.what.document.digest).await;
        assert_eq!(document.unwrap(), text);
    }
    let text = workflow("a", &["ok"]);
    let _kept: CatalogItem<SavedWorkflow> = remote
        .put(CatalogKind::Workflows, ("a", "w"), DocumentText { file: "w.yaml", text: &text })
        .await
        .unwrap();
    for (namespace, after, limit) in [
        (None, None, 100),
        (None, None, 2),
        (Some("a"), None, 100),
        (None, Some(("a", "one")), 100),
        (Some("none"), None, 100),
    ] {
        let (told, kept) = (
            catalog::schedules(&remote, namespace, after, limit).await.unwrap(),
            catalog::schedules(&*store, namespace, after, limit).await.unwrap(),
        );
        let shown = |all: &[CatalogItem<ScheduleState>]| serde_json::to_value(all).unwrap();
        assert_eq!(shown(&told.items), shown(&kept.items), "{namespace:?} {after:?} {limit}");
    }
    let wanted = |shelf| EntryQuery { shelf, namespace: None, after: None, limit: 2 };
    assert_eq!(remote.entries(wanted(CatalogKind::Workflows)).await.unwrap().len(), 1);
    let name = ("a", "one");
    let paused = remote.pause(name, true).await.unwrap();
    assert_eq!((paused.standing(), paused.next), ("suspended", None));
    assert_eq!(remote.pause(name, false).await.unwrap().standing(), "active");
    let next = remote.next_instants(name, 3).await.unwrap();
    assert_eq!(next, world.host.next_instants("a", "one", 3).await.unwrap());
    let triggered = remote.trigger(name, &[("who", "5")], None).await.unwrap();
    let run = triggered["runID"].as_str().unwrap();
    let told = catalog::schedule(&remote, "a", "one").await.unwrap().unwrap();
    assert_eq!(told.what.firings[0].run_id.as_deref(), Some(run));
    let submitted = remote.run(("a", "w"), None, &[("who", "Ada")], Some("once")).await.unwrap();
    let again = remote.run(("a", "w"), None, &[("who", "Ada")], Some("once")).await.unwrap();
    assert_eq!((&submitted["runID"], &again["isNew"]), (&again["runID"], &Value::Bool(false)));
    for (shelf, name) in [(CatalogKind::Schedules, ("b", "one")), (CatalogKind::Workflows, ("a", "w"))] {
        assert_eq!(
            (remote.remove(shelf, name).await.unwrap(), remote.remove(shelf, name).await.unwrap()),
            (true, false)
        );
    }
    assert!(catalog::saved_workflow(&remote, "a", "w").await.unwrap().is_none());
}

/// R-A30: a run is followed to its end, and asked, as one of a store.
#[tokio::test]
async fn a_run_is_followed_and_asked() {
    let world = World::in_file().await;
    let remote = remote(&world.client);
    let said = remote
        .submit(&workflow("a", &["ok", "ask"]), &json!({}), &[("who", "5")], Some("once"))
        .await
        .unwrap();
    let run = said["runID"].as_str().unwrap().to_owned();
    let of_who = json!({ "who": "5" });
    let again = remote.submit(&workflow("a", &["ok", "ask"]), &of_who, &[], Some("once")).await.unwrap();
    assert_eq!((again["runID"].as_str(), again["isNew"].as_bool()), (Some(&*run), Some(false)));
    parked_or_ended(&world, &run).await;
    let mut watch = Watch::of(Arc::new(remote.clone()), &run, 0);
    let mut events = 0;
    let mut asked = false;
    while let Some(notice) = watch.next().await.unwrap() {
        let Notice::Record(record) = notice else { continue };
        assert_eq!(record.first_seq, events);
        events = record.next_seq();
        if !asked && watch.run().unwrap().is_parked() {
            asked = true;
            let view = remote.resume(&run, "main/t1", json!({ "by": "Ada" })).await.unwrap();
            assert_eq!(view["runID"], *run);
        }
    }
    let view = RunView::of(watch.run().unwrap());
    let view = serde_json::to_value(StoredRunView::of(&view, None, None)).unwrap();
    let told = world.client.get(&format!("/v1/runs/{run}")).await.expect(200).json();
    assert_eq!((view["phase"].as_str(), &view), (Some("Succeeded"), &told));
    assert_eq!(view["parameters"][0]["value"], "5");
    let refused = remote.cancel(&run, None).await.unwrap_err();
    assert_eq!(refused.status(), Some(409), "{refused}");
    let rerun = remote.rerun(&run, true, &json!({}), None).await.unwrap();
    assert_ne!(rerun["runID"].as_str(), Some(&*run));
}

/// R-A8, R-A30: to a key that is bound to a namespace nothing else exists.
#[tokio::test]
async fn a_key_sees_its_namespaces_alone() {
    let world = World::new().await;
    let (admin, bound) = (world.key("admin", Role::Admin, &[]), world.key("a", Role::Run, &["a"]));
    let (all, own) = (remote(&admin), remote(&bound));
    let submit = async |namespace: &str| -> Value {
        all.submit(&workflow(namespace, &["talk"]), &json!({}), &[], None).await.unwrap()
    };
    let (mine, other) = (submit("a").await, submit("b").await);
    let (mine, other) = (mine["runID"].as_str().unwrap(), other["runID"].as_str().unwrap());
    let rows = own.list(Filter::default(), 10).await.unwrap();
    assert_eq!(rows.iter().map(|row| &*row.head.run_id).collect::<Vec<_>>(), [mine]);
    assert!(own.get(other).await.unwrap().is_none());
    assert!(matches!(own.load_since(other, 0).await, Err(StoreError::NotFound { .. })));
    assert!(matches!(own.logs(other, None).await, Err(StoreError::NotFound { .. })));
    assert_eq!(own.cancel(other, None).await.unwrap_err().status(), Some(404));
    let records = own.load_since(mine, 0).await.unwrap();
    journal::replay(mine, &records, |_, _, _, _| {}).unwrap();
    let nobody = remote(&world.client);
    let refused = nobody.list(Filter::default(), 1).await.unwrap_err();
    assert!(
        matches!(&refused, StoreError::Refused { why, .. } if why.contains("expected a key")),
        "{refused}"
    );
}

#[tokio::test]
async fn what_is_no_server_is_said() {
    for url in ["phasm.example.com", "http://", "https://a/?b", "https://me@there"] {
        assert!(Remote::new(url, None).is_err(), "{url}");
    }
    let keyed = |url: &str| Remote::new(url, Some("phasm_x".to_owned()));
    for url in ["http://localhost:8484", "http://127.0.0.1/", "http://[::1]:8484/a", "https://phasm.example"]
    {
        assert!(keyed(url).is_ok(), "{url}");
    }
    for url in
        ["http://phasm.example", "http://127.0.0.1.example/", "http://10.0.0.1:8484", "http://[fe80::1]/"]
    {
        assert!(keyed(url).is_err_and(|why| why.contains("over https:// only")), "{url}");
        assert!(Remote::new(url, None).is_ok(), "{url}");
    }
    let nowhere = Remote::new("http://127.0.0.1:1", None).unwrap();
    assert!(matches!(nowhere.list(Filter::default(), 1).await, Err(StoreError::Unavailable { .. })));
}
