//! Attempts that hosts offer each other.

use super::{
    super::{ExchangeRequest, ExchangeResponse, Offer, OfferId, Report},
    *,
};

fn ask(host: &str) -> ExchangeRequest {
    ExchangeRequest::nothing(host.into(), Timestamp(10))
}

fn offer(number: u64, kind: &str, priority: u16) -> Offer {
    let body = Arc::from(number.to_string().into_bytes());
    Offer {
        number,
        run_id: "run".into(),
        epoch: 1,
        tenant: ("default".into(), 1),
        priority,
        kind: kind.into(),
        body,
    }
}

fn id(number: u64, taking: u64) -> OfferId {
    OfferId { by: "a".into(), number, taking }
}

fn report(number: u64, taking: u64, is_last: bool) -> Report {
    Report { id: id(number, taking), is_last, body: Arc::from(b"said".as_slice()) }
}

fn taken(shares: &ExchangeResponse) -> Vec<(u64, u64)> {
    shares.taken.iter().map(|taken| (taken.id.number, taken.id.taking)).collect()
}

async fn takes(store: &dyn Store, host: &str, room: u32) -> Vec<(u64, u64)> {
    taken(&store.share(ExchangeRequest { room, ..ask(host) }).await.unwrap())
}

/// Three hosts that are there, of which the first drives a run.
async fn three(store: &dyn Store) {
    for host in ["a", "b", "c"] {
        store.heartbeat(&host.into(), Timestamp(100)).await.unwrap();
    }
    let lease = Lease::first(head("run"), "a".into());
    let body: Arc<dyn Encode> = Arc::new(Vec::new());
    store.append(&lease, RUNNING, record(0, 1, body), Vec::new()).await.unwrap();
}

async fn on_shared(test: impl AsyncFn(&dyn Store)) {
    on_each(async |store| {
        if store.is_shared() {
            three(store).await;
            test(store).await;
        }
    })
    .await;
}

/// R-H25: each offer goes to one host, the most urgent first, and never back to its maker.
#[tokio::test]
async fn an_offer_is_taken_once() {
    on_shared(async |store| {
        let offers = vec![offer(1, "k", 5), offer(2, "k", 9), offer(3, "other", 5)];
        let offered =
            store.share(ExchangeRequest { offers: offers.clone(), room: 9, ..ask("a") }).await.unwrap();
        assert_eq!((taken(&offered), offered.room), (vec![], 0));
        let first = store.share(ExchangeRequest { room: 1, ..ask("b") }).await.unwrap();
        assert_eq!(taken(&first), [(2, 1)]);
        assert_eq!((&*first.taken[0].kind, &*first.taken[0].body), ("k", b"2".as_slice()));
        let except = ExchangeRequest { room: 3, except: vec!["other".into()], ..ask("c") };
        assert_eq!(taken(&store.share(except).await.unwrap()), [(1, 1)]);
        assert_eq!(takes(store, "b", 9).await, [(3, 1)]);
        assert_eq!(takes(store, "c", 9).await, []);
        // Two of the one, eight of the other are left.
        let again = store.share(ExchangeRequest { offers, ..ask("a") }).await.unwrap();
        assert_eq!(
            (again.room, takes(store, "c", 9).await),
            (17, vec![]),
            "what is known is not offered twice"
        );
    })
    .await;
}

/// R-H26: a report is repeated until it is acknowledged, and only by the host that has the offer.
#[tokio::test]
async fn what_is_told_of_an_offer_reaches_its_host() {
    on_shared(async |store| {
        store
            .share(ExchangeRequest { offers: vec![offer(1, "k", 5), offer(2, "k", 5)], ..ask("a") })
            .await
            .unwrap();
        assert_eq!(takes(store, "b", 2).await, [(1, 1), (2, 1)]);
        let reports = vec![report(1, 1, false), report(1, 1, true), report(2, 2, true)];
        store.share(ExchangeRequest { reports: reports.clone(), ..ask("b") }).await.unwrap();
        store.share(ExchangeRequest { reports, ..ask("c") }).await.unwrap();
        let told = store.share(ask("a")).await.unwrap();
        assert_eq!(told.reported.iter().map(|told| told.number).collect::<Vec<_>>(), [1, 1]);
        assert_eq!(told.look_again, Some(Timestamp(100)), "of the second");
        assert_eq!(store.share(ask("a")).await.unwrap().reported, told.reported);
        // An offer that is over is not offered again, though its maker does not know yet.
        store.share(ExchangeRequest { offers: vec![offer(1, "k", 5)], ..ask("a") }).await.unwrap();
        assert_eq!(takes(store, "c", 9).await, []);
        let heard = told.reported.iter().map(|told| told.report).collect();
        assert_eq!(store.share(ExchangeRequest { heard, ..ask("a") }).await.unwrap().reported, []);
    })
    .await;
}

/// R-H26: what a host that is gone had taken is to be had again, and what it says later is dropped.
#[tokio::test]
async fn what_a_host_had_that_is_gone_is_taken_again() {
    on_shared(async |store| {
        store.share(ExchangeRequest { offers: vec![offer(1, "k", 5)], ..ask("a") }).await.unwrap();
        assert_eq!(takes(store, "b", 1).await, [(1, 1)]);
        store.heartbeat(&"b".into(), Timestamp(10)).await.unwrap();
        store.share(ask("a")).await.unwrap();
        assert_eq!(takes(store, "c", 1).await, [(1, 2)]);
        store.share(ExchangeRequest { reports: vec![report(1, 1, true)], ..ask("b") }).await.unwrap();
        assert_eq!(store.share(ask("a")).await.unwrap().reported, []);
        store.share(ExchangeRequest { reports: vec![report(1, 2, true)], ..ask("c") }).await.unwrap();
        assert_eq!(store.share(ask("a")).await.unwrap().reported.len(), 1);
    })
    .await;
}

/// R-H25: a withdrawn offer is stopped; offers that no host has taken come back, the oldest first.
#[tokio::test]
async fn offers_are_withdrawn() {
    on_shared(async |store| {
        let offers = (1..=4).map(|number| offer(number, "k", 5)).collect();
        store.share(ExchangeRequest { offers, ..ask("a") }).await.unwrap();
        assert_eq!(takes(store, "b", 1).await, [(1, 1)]);
        let back =
            store.share(ExchangeRequest { withdrawn: vec![1, 4], recalled: 1, ..ask("a") }).await.unwrap();
        assert_eq!(back.recalled, [2]);
        let stopped = store.share(ask("b")).await.unwrap().stopped;
        assert_eq!(stopped, [id(1, 1)]);
        assert_eq!(store.share(ask("b")).await.unwrap().stopped, []);
        assert_eq!(takes(store, "c", 9).await, [(3, 1)]);
        assert_eq!(
            store.share(ExchangeRequest { recalled: 9, ..ask("a") }).await.unwrap().recalled,
            Vec::<u64>::new()
        );
        store.share(ExchangeRequest { returned: vec![id(3, 1)], ..ask("c") }).await.unwrap();
        assert_eq!(takes(store, "b", 9).await, [(3, 2)]);
        // A host that may have missed an answer names the offers that it holds.
        store.share(ExchangeRequest { holds: Some(vec![]), ..ask("b") }).await.unwrap();
        assert_eq!(takes(store, "c", 9).await, [(3, 3)]);
        let holds = Some(vec![id(3, 3)]);
        store.share(ExchangeRequest { holds, ..ask("c") }).await.unwrap();
        assert_eq!(takes(store, "b", 9).await, []);
    })
    .await;
}

/// R-H26: nothing stands that was offered under an older lease.
#[tokio::test]
async fn whoever_claims_a_run_voids_its_offers() {
    on_shared(async |store| {
        store
            .share(ExchangeRequest { offers: vec![offer(1, "k", 5), offer(2, "k", 5)], ..ask("a") })
            .await
            .unwrap();
        assert_eq!(takes(store, "b", 1).await, [(1, 1)]);
        store.heartbeat(&"a".into(), Timestamp(0)).await.unwrap();
        store.claim_run(&"c".into(), "run", Timestamp(10)).await.unwrap();
        assert_eq!(store.share(ask("b")).await.unwrap().stopped, [id(1, 1)]);
        store.share(ExchangeRequest { offers: vec![offer(3, "k", 5)], ..ask("a") }).await.unwrap();
        assert_eq!(takes(store, "b", 9).await, []);
    })
    .await;
}

/// R-H25: who offers much takes nothing of what others offer: of two tenants each has as many as its weight says, also of what is executed
/// already; within one the most urgent go first.
#[tokio::test]
async fn offers_are_taken_by_tenant() {
    on_shared(async |store| {
        let of = |number, tenant: &str, weight, priority| Offer {
            tenant: (tenant.into(), weight),
            ..offer(number, "k", priority)
        };
        let many = (1..=40).map(|number| of(number, "many", 1, 900));
        let few = (41..=60).map(|number| of(number, "few", 3, u16::try_from(number).unwrap()));
        store.share(ExchangeRequest { offers: many.chain(few).collect(), ..ask("a") }).await.unwrap();
        let whose = |taken: &[(u64, u64)]| {
            let few = taken.iter().filter(|(number, _)| *number > 40).count();
            (taken.len() - few, few)
        };
        let first = takes(store, "b", 8).await;
        assert_eq!(whose(&first), (2, 6), "{first:?}");
        let few: Vec<u64> = first.iter().map(|(number, _)| *number).filter(|number| *number > 40).collect();
        assert_eq!(few, [60, 59, 58, 57, 56, 55]);
        let mut each = (0, 0);
        for _ in 0..8 {
            let (many, few) = whose(&takes(store, "c", 1).await);
            each = (each.0 + many, each.1 + few);
        }
        assert_eq!(each, (2, 6), "one by one it is the same");
        assert_eq!(whose(&takes(store, "c", 99).await), (36, 8), "nothing is left for another's sake");
    })
    .await;
}
