use std::{collections::BTreeMap, pin::pin, task::Waker, time::Duration};

use super::{
    shares::{Entry, Shares},
    *,
};

const MS: Duration = Duration::from_millis(1);

fn of(tenant: &str, key: &str) -> Holder {
    Holder { tenant: tenant.into(), key: key.into(), weight: 1 }
}

fn weighing(tenant: &str, weight: u32) -> Holder {
    Holder { weight, ..of(tenant, "k") }
}

/// Takes as many places as the holder may have, and returns their number.
fn fill(shares: &mut Shares<usize>, holder: &Holder) -> usize {
    std::iter::repeat_with(|| shares.try_enter(holder, 1)).take_while(|taken| *taken).count()
}

/// Lets holders with these times of work always have two requests each, on `places` places, for a second.
/// Returns the places times milliseconds that each has had.
fn compete(places: usize, holders: &[(Holder, u32)]) -> Vec<u32> {
    let mut shares = Shares::<usize>::new(places, 1000);
    let (mut working, mut had) = (Vec::new(), vec![0; holders.len()]);
    let request = |shares: &mut Shares<usize>, working: &mut Vec<(usize, u32)>, at: usize| match shares.enter(
        &holders[at].0,
        1,
        || at,
    ) {
        Entry::Place => working.push((at, holders[at].1)),
        Entry::Waits(_) => {}
        Entry::Full => panic!("{:?}", holders[at].0),
    };
    for at in (0..holders.len()).chain(0..holders.len()) {
        request(&mut shares, &mut working, at);
    }
    for _ in 0..1000 {
        for (at, left) in &mut working {
            (had[*at], *left) = (had[*at] + 1, *left - 1);
        }
        let (ended, others): (Vec<_>, Vec<_>) = working.into_iter().partition(|(_, left)| *left == 0);
        working = others;
        for (at, _) in ended {
            shares.leave(&holders[at].0, 1, MS * holders[at].1);
            while let Some(next) = shares.next() {
                working.push((next, holders[next].1));
            }
            request(&mut shares, &mut working, at);
        }
    }
    had
}

/// Polls once.
fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// R-Q11.
#[test]
fn some_places_are_free_for_the_next_tenant_always() {
    for places in [2, 3, 4, 16, 64, 16_384] {
        let mut shares = Shares::new(places, 0);
        let third = places.div_ceil(3);
        assert_eq!(fill(&mut shares, &of("greedy", "one")), third, "a key has a third of {places}");
        for number in 0..100 {
            fill(&mut shares, &of("greedy", &number.to_string()));
        }
        let held = shares.usage().held as usize;
        assert!(held <= places.div_ceil(2), "a tenant with many keys has {held} of {places}");
        assert!(fill(&mut shares, &of("light", "one")) >= 1, "another tenant has none of {places}");
    }
    let mut shares = Shares::new(64, 0);
    // One after another, each as much as it may, and none gives anything back.
    for number in 0..9 {
        assert!(fill(&mut shares, &of(&number.to_string(), "one")) >= 1, "tenant {number} has none");
    }
}

/// R-Q11: a share that others want back comes back as places do, and nothing is remembered after that.
#[test]
fn a_place_that_comes_back_is_anyones() {
    let mut shares = Shares::<usize>::new(4, 4);
    let (one, other) = (of("one", "k"), of("other", "k"));
    assert_eq!((fill(&mut shares, &one), fill(&mut shares, &other)), (2, 1));
    assert!(matches!(shares.enter(&other, 1, || 1), Entry::Waits(_)));
    assert_eq!(shares.next(), None);
    shares.leave(&one, 1, MS);
    assert_eq!(shares.next(), None, "two of the other and one of this one leave one");
    shares.leave(&one, 1, MS);
    assert_eq!(shares.next(), Some(1));
    shares.leave(&other, 1, MS);
    shares.leave(&other, 1, MS);
    assert!(shares.is_empty());
}

/// R-Q11: more connections, requests or keys get no more.
#[test]
fn tenants_have_as_much_however_many_keys_and_requests_they_have() {
    let light = (of("light", "k"), 3);
    let heavy = (0..15).map(|number| (of("heavy", &format!("k{number}")), 40));
    let had = compete(3, &[light].into_iter().chain(heavy).collect::<Vec<_>>());
    let (light, heavy) = had.split_first().unwrap();
    let heavy: u32 = heavy.iter().sum();
    assert!(*light >= 995, "{light} of a thousand: one place is never the heavy tenant's");
    assert!(heavy >= 990, "{heavy}: and one never lacks work");
}

/// R-Q11: in time, and not in number.
#[test]
fn who_waits_equally_gets_as_much_time_by_weight() {
    let holders = [(weighing("short", 1), 1), (weighing("long", 1), 20), (weighing("double", 2), 5)];
    let had = compete(2, &holders);
    assert!(had[0].abs_diff(had[1]) <= 60, "{had:?}");
    let mut shares = Shares::<usize>::new(64, 0);
    let double = fill(&mut shares, &weighing("double", 2));
    assert_eq!(double, 32);
    assert_eq!(fill(&mut shares, &weighing("single", 1)), 11, "a third of the 32 that are left");
}

/// R-Q11.
#[test]
fn keys_of_a_tenant_share_its_part() {
    let mut shares = Shares::<usize>::new(16, 16);
    let (greedy, modest) = (of("t", "greedy"), of("t", "modest"));
    assert_eq!(fill(&mut shares, &greedy), 6);
    for _ in 0..4 {
        assert!(matches!(shares.enter(&greedy, 1, || 1), Entry::Waits(_)));
    }
    assert_eq!(shares.enter(&modest, 1, || 2), Entry::Place);
    assert_eq!(shares.enter(&modest, 1, || 2), Entry::Place);
    assert!(matches!(shares.enter(&modest, 1, || 2), Entry::Waits(_)), "the tenant has a half");
    shares.leave(&greedy, 1, MS);
    shares.leave(&greedy, 1, MS);
    assert_eq!(shares.next(), Some(2), "the key that holds less is next");
}

/// R-Q11: who overfills is refused, and no other.
#[test]
fn places_to_wait_are_shared_as_well() {
    let mut shares = Shares::<usize>::new(2, 9);
    let (greedy, light) = (of("greedy", "k"), of("light", "k"));
    assert_eq!(shares.enter(&greedy, 1, || 0), Entry::Place);
    for _ in 0..3 {
        assert!(matches!(shares.enter(&greedy, 1, || 0), Entry::Waits(_)));
    }
    assert_eq!(shares.enter(&greedy, 1, || 0), Entry::Full);
    assert_eq!(shares.enter(&light, 1, || 0), Entry::Place);
    assert!(matches!(shares.enter(&light, 1, || 0), Entry::Waits(_)));
    assert_eq!(shares.enter(&greedy, 1, || 0), Entry::Full);
    let usage = shares.usage();
    assert_eq!((usage.held, usage.waiting, usage.waited, usage.refused), (2, 4, 4, 2));
}

/// R-Q11: time away counts for nothing.
#[test]
fn a_tenant_that_was_away_has_saved_nothing_up() {
    let mut shares = Shares::<usize>::new(2, 100);
    let (always, sometimes) = (of("always", "k"), of("sometimes", "k"));
    let filler = of("filler", "k");
    assert!(shares.try_enter(&filler, 1) && shares.try_enter(&always, 1));
    for _ in 0..20 {
        assert!(matches!(shares.enter(&always, 1, || 0), Entry::Waits(_)));
        shares.leave(&always, 1, MS * 100);
        assert_eq!(shares.next(), Some(0));
    }
    let mut served = Vec::new();
    for _ in 0..10 {
        assert!(matches!(shares.enter(&always, 1, || 0), Entry::Waits(_)));
        assert!(matches!(shares.enter(&sometimes, 1, || 1), Entry::Waits(_)));
    }
    let mut last = always.clone();
    for _ in 0..8 {
        shares.leave(&last, 1, MS * 100);
        let next = shares.next().unwrap();
        served.push(next);
        last = if next == 0 { always.clone() } else { sometimes.clone() };
    }
    assert!((3..=5).contains(&served.iter().sum::<usize>()), "turns alternate: {served:?}");
}

/// R-Q11: random holders come, wait, give up and leave; the counts always fit, and in the end nothing is left.
#[test]
fn whatever_holders_do_the_books_balance() {
    let mut seed = 7_u64;
    let mut random = move |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) as usize % below
    };
    let mut shares = Shares::<u64>::new(7, 9);
    let (mut held, mut waiting) = (Vec::new(), BTreeMap::new());
    for tag in 0..20_000_u64 {
        let holder = of(&random(4).to_string(), &random(3).to_string());
        let size = random(3) + 1;
        match random(4) {
            0 | 1 => match shares.enter(&holder, size, || tag) {
                Entry::Place => held.push((holder, size)),
                Entry::Waits(number) => drop(waiting.insert(tag, (holder, size, number))),
                Entry::Full => {}
            },
            2 if !held.is_empty() => {
                let (holder, size) = held.swap_remove(random(held.len()));
                shares.leave(&holder, size, MS * random(9) as u32);
            }
            3 if !waiting.is_empty() => {
                let (tag, (holder, _, number)) = waiting.pop_first().unwrap();
                assert_eq!(shares.stop_waiting(&holder, number), Some(tag));
                assert_eq!(shares.stop_waiting(&holder, number), None);
            }
            _ => {}
        }
        while let Some(tag) = shares.next() {
            let (holder, size, _) = waiting.remove(&tag).unwrap();
            held.push((holder, size));
        }
        let usage = shares.usage();
        let places: usize = held.iter().map(|(_, size)| size).sum();
        assert_eq!((usage.held as usize, usage.waiting as usize), (places, waiting.len()));
        assert!(usage.held <= 7 && usage.waiting <= 9, "{usage:?}");
    }
    for (holder, _, number) in waiting.into_values() {
        shares.stop_waiting(&holder, number);
    }
    held.iter().for_each(|(holder, size)| shares.leave(holder, *size, MS));
    assert!(shares.is_empty());
}

/// R-Q11: a request for many places is served in its turn, and small ones that come later do not overtake it.
#[test]
fn a_request_for_many_places_waits_for_them_and_is_not_overtaken() {
    let mut shares = Shares::<usize>::new(8, 8);
    let [small, large, late] = ["small", "large", "late"].map(|tenant| of(tenant, "k"));
    assert_eq!(fill(&mut shares, &small), 3);
    assert!(matches!(shares.enter(&large, 6, || 1), Entry::Waits(_)), "five are free");
    assert!(!shares.try_enter(&late, 1), "they are saved up");
    assert!(matches!(shares.enter(&late, 1, || 2), Entry::Waits(_)));
    assert_eq!(shares.next(), None);
    shares.leave(&small, 1, MS);
    assert_eq!((shares.next(), shares.next(), shares.next()), (Some(1), None, None));
    shares.leave(&small, 2, MS);
    assert_eq!(shares.next(), Some(2));
    shares.leave(&large, 6, MS);
    shares.leave(&late, 1, MS);
    assert!(shares.is_empty());
    let queue = FairQueue::new(8, 8);
    let all = pin!(queue.enter_with(&large, 1000));
    let Poll::Ready(Ok(all)) = poll(all) else { panic!("no more than there are") };
    assert_eq!(queue.usage().held, 8);
    let mut waits = pin!(queue.enter_with(&small, 2));
    assert!(poll(waits.as_mut()).is_pending());
    drop(all);
    assert!(poll(waits).is_ready());
}

/// R-Q11.
#[test]
fn who_gives_up_leaves_no_trace() {
    let queue = FairQueue::new(1, 8);
    let (one, other) = (of("one", "k"), of("other", "k"));
    let place = queue.try_enter(&one).unwrap();
    let mut first = Box::pin(queue.enter(&other));
    let mut second = pin!(queue.enter(&one));
    assert!(poll(first.as_mut()).is_pending() && poll(second.as_mut()).is_pending());
    drop(place);
    // The first one has the place, and has not looked.
    drop(first);
    let Poll::Ready(Ok(place)) = poll(second.as_mut()) else { panic!("the next one has it") };
    let mut third = Box::pin(queue.enter(&other));
    assert!(poll(third.as_mut()).is_pending());
    drop(third);
    drop(place);
    assert!(queue.shares().is_empty());
}

/// R-Q11: as a connection that is found to be another's.
#[test]
fn a_place_is_handed_over_within_the_share_of_its_new_holder() {
    let queue = FairQueue::new(6, 0);
    let (address, key) = (of("address", "-"), of("tenant", "key"));
    let mut places: Vec<_> = (0..2).map(|_| queue.try_enter(&address).unwrap()).collect();
    assert!(queue.try_enter(&address).is_none());
    assert!(places.iter_mut().all(|place| place.hand_over(&key)));
    assert!(places.iter_mut().all(|place| place.hand_over(&key) && *place.holder() == key));
    let mut third = queue.try_enter(&address).unwrap();
    assert!(!third.hand_over(&key), "a key has a third");
    assert_eq!(*third.holder(), address);
    drop(places.pop());
    assert!(third.hand_over(&key));
    drop((places, third));
    assert!(queue.shares().is_empty());
}

/// R-A105. Every turn may be taken, by one key too; then the order is that of any other queue.
#[test]
fn no_turn_is_kept_free() {
    let mut shares = Shares::of_turns(4, 100);
    assert_eq!(fill(&mut shares, &of("heavy", "one")), 4);
    assert!(matches!(shares.enter(&of("heavy", "one"), 1, || 1), Entry::Waits(_)));
    assert!(matches!(shares.enter(&of("light", "one"), 1, || 2), Entry::Waits(_)));
    assert_eq!(shares.next(), None);
    shares.leave(&of("heavy", "one"), 1, MS);
    assert_eq!(shares.next(), Some(2));
    assert_eq!(shares.next(), None);
}

/// R-A105.
#[test]
fn the_only_request_of_a_tenant_is_known() {
    let mut shares = Shares::<usize>::new(8, 8);
    assert!(!shares.has_one("a"));
    assert!(shares.try_enter(&of("a", "one"), 1) && shares.try_enter(&of("b", "one"), 1));
    assert!(shares.has_one("a") && shares.has_one("b"));
    assert!(shares.try_enter(&of("a", "two"), 1));
    assert!(!shares.has_one("a") && shares.has_one("b"));
    shares.leave(&of("a", "two"), 1, MS);
    assert!(shares.has_one("a"));
    while shares.try_enter(&of("b", "one"), 1) {}
    let waits = shares.enter(&of("b", "one"), 1, || 7);
    assert!(matches!(waits, Entry::Waits(_)) && !shares.has_one("b"));
}
