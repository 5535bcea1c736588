use std::{collections::HashMap, sync::atomic::Ordering};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::*;
use crate::{
    clock::manual::ManualClock,
    dispatch::{signal::Signal, slots::fair_share::Rule},
};

fn rank(priority: u16, number: u64) -> Claimant {
    run("default", priority, number)
}

fn run(tenant: &str, priority: u16, number: u64) -> Claimant {
    Claimant { tenant: tenant.into(), rank: Rank::new(priority, Timestamp(0), number) }
}

fn slots(number: u32) -> Slots<UnboundedSender<Signal>> {
    Slots::new(number, Rules::new(), Clock::start())
}

fn lent(inbox: &mut UnboundedReceiver<Signal>) -> Vec<u32> {
    std::iter::from_fn(|| inbox.try_recv().ok())
        .map(|signal| if let Signal::Lent(slots) = signal { slots } else { panic!("{signal:?}") })
        .collect()
}

/// R-P5, R-Q4: slots of a tenant go to its runs by priority, then submit order.
#[test]
fn slots_are_granted_by_priority_then_submit_order() {
    let slots = slots(4);
    let (first, mut first_hears) = unbounded_channel::<Signal>();
    let (second, mut second_hears) = unbounded_channel();
    let (urgent, mut urgent_hears) = unbounded_channel();
    assert_eq!(slots.exchange(&rank(500, 1), &first, 0, 10).lent, 4);
    assert_eq!(slots.exchange(&rank(500, 2), &second, 0, 2).lent, 0);
    assert_eq!(slots.exchange(&rank(900, 3), &urgent, 0, 1).lent, 0);
    assert_eq!(slots.exchange(&rank(500, 1), &first, 3, 2).lent, 2);
    assert_eq!(lent(&mut urgent_hears), [1]);
    assert_eq!(slots.exchange(&rank(500, 1), &first, 2, 0).lent, 0);
    assert_eq!(lent(&mut second_hears), [2]);
    assert!(lent(&mut first_hears).is_empty());
}

#[test]
fn slots_of_a_run_that_left_go_to_the_next() {
    let slots = slots(1);
    let (gone, hears) = unbounded_channel::<Signal>();
    let (next, mut next_hears) = unbounded_channel();
    assert_eq!(slots.exchange(&rank(0, 1), &gone, 0, 1).lent, 1);
    slots.exchange(&rank(0, 2), &gone, 0, 1);
    slots.exchange(&rank(0, 3), &next, 0, 1);
    drop(hears);
    slots.give_back_of(&"default".into(), 1);
    assert_eq!(lent(&mut next_hears), [1]);
}

#[test]
fn what_is_closed_lends_nothing() {
    let slots = slots(2);
    let (inbox, mut hears) = unbounded_channel::<Signal>();
    assert_eq!(slots.exchange(&rank(0, 1), &inbox, 0, 1).lent, 1);
    slots.close();
    assert_eq!(slots.exchange(&rank(0, 2), &inbox, 0, 1).lent, 0);
    slots.give_back(1);
    assert!(lent(&mut hears).is_empty());
}

/// A resumed attempt takes a slot without asking; the debt is paid before anybody is lent more.
#[test]
fn debts_are_paid_first() {
    let slots = slots(1);
    let (inbox, mut hears) = unbounded_channel::<Signal>();
    let claimant = rank(0, 1);
    assert_eq!(slots.exchange(&claimant, &inbox, -2, 1).lent, 0);
    slots.give_back_of(&claimant.tenant, 1);
    assert!(lent(&mut hears).is_empty());
    slots.give_back_of(&claimant.tenant, 1);
    assert_eq!(lent(&mut hears), [1]);
}

/// Runs that always want more, on a clock that is advanced by hand: what they hold comes back after so many steps.
struct Greedy {
    slots: Slots<UnboundedSender<Signal>>,
    clock: Arc<ManualClock>,
    runs: Vec<Hungry>,
}

struct Hungry {
    name: &'static str,
    claimant: Claimant,
    inbox: (UnboundedSender<Signal>, UnboundedReceiver<Signal>),
    takes: u64,
    /// When what it holds comes back.
    held: Vec<u64>,
    had: u64,
}

impl Greedy {
    fn new(total: u32, rules: &[(&str, u32, Option<u32>)]) -> Self {
        let clock = Arc::new(ManualClock::default());
        let rule = |(name, weight, max_slots): &(&str, u32, Option<u32>)| {
            (Arc::from(*name), Rule { weight: *weight, max_slots: *max_slots })
        };
        let rules = rules.iter().map(rule).collect();
        let slots = Slots::new(total, rules, Clock::from(Arc::clone(&clock) as Arc<_>));
        Self { slots, clock, runs: Vec::new() }
    }

    /// A run whose attempts take so many milliseconds.
    fn comes(&mut self, name: &'static str, priority: u16, takes: u64) {
        let number = self.runs.len() as u64;
        let tenant = name.split('/').next().unwrap();
        let mut run = Hungry {
            name,
            claimant: run(tenant, priority, number),
            inbox: unbounded_channel(),
            takes,
            held: Vec::new(),
            had: 0,
        };
        let now = self.clock.elapsed.load(Ordering::Relaxed);
        let lent = self.slots.exchange(&run.claimant, &run.inbox.0, 0, 10_000).lent;
        run.take(lent, now);
        self.runs.push(run);
    }

    /// Lets milliseconds pass.
    fn play(&mut self, millis: u32) {
        for _ in 0..millis {
            self.clock.pass(1);
            let now = self.clock.elapsed.load(Ordering::Relaxed);
            for run in &mut self.runs {
                let before = run.held.len();
                run.held.retain(|until| *until > now);
                let back = i64::try_from(before - run.held.len()).unwrap();
                if back > 0 {
                    let lent = self.slots.exchange(&run.claimant, &run.inbox.0, back, 10_000).lent;
                    run.take(lent, now);
                }
            }
            for run in &mut self.runs {
                lent(&mut run.inbox.1).into_iter().for_each(|lent| run.take(lent, now));
            }
        }
    }

    /// Slots times milliseconds that each has held, and forgets them.
    fn had(&mut self) -> HashMap<&'static str, u64> {
        self.runs.iter_mut().map(|run| (run.name, std::mem::take(&mut run.had))).collect()
    }
}

impl Hungry {
    fn take(&mut self, lent: u32, now: u64) {
        self.had += u64::from(lent) * self.takes;
        self.held.extend((0..lent).map(|_| now + self.takes));
    }
}

fn near(had: u64, expected: u64) -> bool {
    had.abs_diff(expected) * 10 <= expected
}

/// R-Q3: within 10 %, however many slots there are, and however long attempts take.
#[test]
fn two_greedy_tenants_have_slots_by_their_weights() {
    for total in [1, 2, 5, 64] {
        for (heavy, light) in [(1, 1), (20, 20), (50, 3), (3, 50)] {
            let mut greedy = Greedy::new(total, &[("heavy", 3, None), ("light", 1, None)]);
            greedy.comes("heavy", 500, heavy);
            greedy.comes("light", 500, light);
            greedy.play(20_000);
            let (had, all) = (greedy.had(), u64::from(total) * 20_000);
            let is_fair = near(had["heavy"], all * 3 / 4) && near(had["light"], all / 4);
            assert!(is_fair, "{total} slots, {heavy} and {light} ms: {had:?}");
        }
    }
}

/// R-Q3: for having a thousand runs a tenant has no more, and what a tenant leaves others have.
#[test]
fn runs_do_not_count_and_nothing_is_left_unused() {
    let mut greedy = Greedy::new(10, &[]);
    for _ in 0..1000 {
        greedy.comes("many", 900, 10);
    }
    greedy.play(100);
    greedy.comes("one", 0, 10);
    greedy.had();
    greedy.play(2_000);
    let had = greedy.runs.iter().map(|run| run.had).sum::<u64>();
    let one = greedy.runs.last().unwrap().had;
    assert!(near(one, 10_000) && near(had, 20_000), "{one} of {had}");
}

/// R-Q3: neither an unused share nor use that no other tenant wanted is paid for later.
#[test]
fn who_was_away_has_saved_nothing_up() {
    let mut greedy = Greedy::new(10, &[]);
    greedy.comes("always", 500, 10);
    greedy.play(5_000);
    greedy.comes("late", 500, 10);
    greedy.had();
    greedy.play(1_000);
    let had = greedy.had();
    assert!(near(had["always"], 5_000) && near(had["late"], 5_000), "{had:?}");
}

/// R-Q2: attempts beyond the quota wait, and delay no other tenant.
#[test]
fn a_quota_of_running_attempts_is_never_exceeded() {
    let mut greedy = Greedy::new(10, &[("bounded", 9, Some(2))]);
    greedy.comes("bounded/a", 500, 7);
    greedy.comes("bounded/b", 500, 7);
    greedy.comes("free", 500, 10);
    for _ in 0..200 {
        greedy.play(1);
        let held: usize = greedy.runs.iter().filter(|run| run.name != "free").map(|run| run.held.len()).sum();
        assert!(held <= 2, "{held}");
    }
    let had = greedy.had();
    assert!(near(had["free"], 8 * 200), "{had:?}");
    let met = ["bounded", "free"].map(|tenant| greedy.slots.state().fair_share.quota_met(tenant));
    assert_eq!(met, [Some(2), None]);
    assert!(greedy.slots.queued("free") > 9_000);
}

/// R-Q8: who waited for slots hears once that the tenant's other runs have used up what it may have.
#[test]
fn who_waits_hears_that_the_quota_is_used_up() {
    let rules = [(Arc::from("bounded"), Rule { weight: 1, max_slots: Some(2) })].into();
    let slots = Slots::new(2, rules, Clock::from(Arc::new(ManualClock::default()) as Arc<_>));
    let [(other, _other), (first, mut told), (second, _second)] =
        [0; 3].map(|_| unbounded_channel::<Signal>());
    let [a, b] = [run("bounded", 0, 1), run("bounded", 500, 2)];
    assert_eq!(slots.exchange(&run("other", 0, 0), &other, 0, 2), SlotGrant { lent: 2, quota: None });
    assert_eq!(slots.exchange(&a, &first, 0, 1), SlotGrant::default(), "there is none");
    slots.exchange(&b, &second, 0, 9);
    slots.exchange(&run("other", 0, 0), &other, 2, 0);
    assert_eq!(lent(&mut told), [0]);
    assert_eq!(slots.exchange(&a, &first, 0, 1), SlotGrant { lent: 0, quota: Some(2) });
    assert_eq!(slots.exchange(&b, &second, 0, 7).quota, Some(2));
    assert!(lent(&mut told).is_empty());
}

/// R-Q4: an urgent run has nearly all slots, and a run that would never have its turn the sixteenth part.
#[test]
fn nobody_waits_for_ever() {
    let mut greedy = Greedy::new(1, &[]);
    greedy.comes("a/urgent", 900, 1);
    greedy.comes("a/late", 100, 1);
    greedy.comes("a/later", 100, 1);
    greedy.play(3_200);
    let had = greedy.had();
    assert!(near(had["a/urgent"], 3_000), "{had:?}");
    assert!(near(had["a/late"], 100) && near(had["a/later"], 100), "{had:?}");
}

/// Nothing is left of those that are gone.
#[test]
fn tenants_that_are_gone_are_forgotten() {
    let slots = slots(2);
    let (inbox, _hears) = unbounded_channel::<Signal>();
    for number in 0..100 {
        let claimant = run(&format!("tenant {number}"), 0, number);
        assert_eq!(slots.exchange(&claimant, &inbox, 0, 1).lent, 1);
        slots.exchange(&claimant, &inbox, 1, 0);
    }
    let text = format!("{:?}", slots.state());
    assert!(!text.contains("tenant 9"), "{text}");
}
