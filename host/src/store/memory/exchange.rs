//! Attempts that hosts of one store in memory offer each other.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use phasm_engine::time::Timestamp;

use super::super::{
    ExchangeRequest, ExchangeResponse, HostId, IncomingReport, Offer, OfferId, Report, TakenOffer,
};

/// Share that an attempt counts for a tenant of weight 1.
const SHARE: u64 = 1 << 32;

/// An offer, and who has taken it.
struct OnOffer {
    offer: Offer,
    taker: Option<HostId>,
    taking: u64,
}

/// All that is offered.
#[derive(Default)]
pub(super) struct Offers {
    /// By host and number: the oldest of a host first.
    offered: BTreeMap<(HostId, u64), OnOffer>,
    reports: BTreeMap<u64, (HostId, u64, bool, Vec<u8>)>,
    last_report: u64,
    stops: HashMap<HostId, Vec<OfferId>>,
    room: HashMap<HostId, u32>,
}

impl Offers {
    /// One exchange; true if it is news for other hosts. `epoch` is that of a run, `until` says until when a host is there.
    pub(super) fn share(
        &mut self,
        ask: &ExchangeRequest,
        epoch: impl Fn(&str) -> Option<u64>,
        until: impl Fn(&HostId) -> Timestamp,
    ) -> (ExchangeResponse, bool) {
        let is_there = |host: &HostId| until(host) > ask.now;
        ask.heard.iter().for_each(|report| drop(self.reports.remove(report)));
        let told = self.report(ask);
        let is_free_again = self.release(&ask.host, &is_there) | self.give_back(ask);
        ask.withdrawn.iter().for_each(|number| self.remove(&ask.host, *number));
        let offered = self.offer(ask, epoch);
        let recalled = self.recall(ask);
        let taken = self.take(ask);
        let room = ask.room.saturating_sub(u32::try_from(taken.len()).unwrap_or(u32::MAX));
        let grew = room > self.room.insert(ask.host.clone(), room).unwrap_or(0);
        let own = self.offered.range((ask.host.clone(), 0)..=(ask.host.clone(), u64::MAX));
        let shares = ExchangeResponse {
            taken,
            stopped: self.stops.remove(&ask.host).unwrap_or_default(),
            recalled,
            reported: self.reported(&ask.host),
            room: self
                .room
                .iter()
                .filter(|(host, _)| **host != ask.host && is_there(host))
                .map(|(_, n)| n)
                .sum(),
            look_again: own.filter_map(|(_, offer)| offer.taker.as_ref()).map(&until).min(),
        };
        (shares, told || offered || grew || is_free_again || !ask.withdrawn.is_empty())
    }

    /// Offers of this host that hosts now gone had taken are free again.
    fn release(&mut self, host: &HostId, is_there: &impl Fn(&HostId) -> bool) -> bool {
        let mut released = false;
        let own = self.offered.range_mut((host.clone(), 0)..=(host.clone(), u64::MAX));
        for (_, offered) in own {
            if offered.taker.as_ref().is_some_and(|taker| !is_there(taker)) {
                offered.taker = None;
                released = true;
            }
        }
        released
    }

    fn give_back(&mut self, ask: &ExchangeRequest) -> bool {
        for id in &ask.returned {
            if let Some(offered) = self.held(&ask.host, id) {
                offered.taker = None;
            }
        }
        let Some(holds) = &ask.holds else { return !ask.returned.is_empty() };
        for ((by, number), offered) in &mut self.offered {
            let held = |id: &OfferId| id.by == *by && id.number == *number && id.taking == offered.taking;
            if offered.taker.as_ref() == Some(&ask.host) && !holds.iter().any(held) {
                offered.taker = None;
            }
        }
        true
    }

    fn held(&mut self, taker: &HostId, id: &OfferId) -> Option<&mut OnOffer> {
        let offered = self.offered.get_mut(&(id.by.clone(), id.number))?;
        (offered.taking == id.taking && offered.taker.as_ref() == Some(taker)).then_some(offered)
    }

    fn report(&mut self, ask: &ExchangeRequest) -> bool {
        let mut told = false;
        for Report { id, is_last, body } in &ask.reports {
            if self.held(&ask.host, id).is_none() {
                continue;
            }
            told = true;
            self.last_report += 1;
            self.reports.insert(self.last_report, (id.by.clone(), id.number, *is_last, body.to_vec()));
            if *is_last {
                self.offered.remove(&(id.by.clone(), id.number));
            }
        }
        told
    }

    fn reported(&self, host: &HostId) -> Vec<IncomingReport> {
        let of_host = self.reports.iter().filter(|(_, (to, ..))| to == host);
        of_host
            .map(|(report, (_, number, _, body))| IncomingReport {
                report: *report,
                number: *number,
                body: body.clone(),
            })
            .collect()
    }

    fn offer(&mut self, ask: &ExchangeRequest, epoch: impl Fn(&str) -> Option<u64>) -> bool {
        let mut offered = false;
        for offer in &ask.offers {
            let is_over = |(by, number, last, _): &(HostId, u64, bool, Vec<u8>)| {
                *last && *by == ask.host && *number == offer.number
            };
            if epoch(&offer.run_id) != Some(offer.epoch) || self.reports.values().any(is_over) {
                continue;
            }
            let key = (ask.host.clone(), offer.number);
            offered |= !self.offered.contains_key(&key);
            self.offered.entry(key).or_insert(OnOffer { offer: offer.clone(), taker: None, taking: 0 });
        }
        offered
    }

    fn remove(&mut self, by: &HostId, number: u64) {
        let Some(OnOffer { taker: Some(taker), taking, .. }) = self.offered.remove(&(by.clone(), number))
        else {
            return;
        };
        self.stops.entry(taker).or_default().push(OfferId { by: by.clone(), number, taking });
    }

    fn recall(&mut self, ask: &ExchangeRequest) -> Vec<u64> {
        let own = self.offered.range((ask.host.clone(), 0)..=(ask.host.clone(), u64::MAX));
        let free = own.filter(|(_, offered)| offered.taker.is_none()).map(|((_, number), _)| *number);
        let recalled: Vec<u64> = free.take(ask.recalled as usize).collect();
        recalled.iter().for_each(|number| self.remove(&ask.host, *number));
        recalled
    }

    /// Returns the attempts of each tenant that are executed elsewhere, for its weight.
    fn elsewhere(&self) -> HashMap<Arc<str>, u64> {
        let mut had = HashMap::new();
        for OnOffer { offer, .. } in self.offered.values().filter(|offered| offered.taker.is_some()) {
            let (tenant, weight) = &offer.tenant;
            *had.entry(Arc::clone(tenant)).or_default() += SHARE / u64::from((*weight).max(1));
        }
        had
    }

    fn take(&mut self, ask: &ExchangeRequest) -> Vec<TakenOffer> {
        let fits = |((by, _), offered): &(&(HostId, u64), &mut OnOffer)| {
            *by != ask.host && offered.taker.is_none() && !ask.except.contains(&offered.offer.kind)
        };
        let mut had = self.elsewhere();
        let mut free: Vec<_> = self.offered.iter_mut().filter(fits).collect();
        free.sort_by_key(|(_, offered)| std::cmp::Reverse(offered.offer.priority));
        // The order within a tenant stays; tenants alternate so that each has had as much for its weight.
        free.sort_by_cached_key(|(_, offered)| {
            let (tenant, weight) = &offered.offer.tenant;
            let had = had.entry(Arc::clone(tenant)).or_default();
            *had += SHARE / u64::from((*weight).max(1));
            *had
        });
        let take = |((by, number), offered): (&(HostId, u64), &mut OnOffer)| {
            offered.taker = Some(ask.host.clone());
            offered.taking += 1;
            let id = OfferId { by: by.clone(), number: *number, taking: offered.taking };
            let Offer { kind, body, .. } = offered.offer.clone();
            TakenOffer { id, kind, body }
        };
        free.into_iter().take(ask.room as usize).map(take).collect()
    }

    /// Another host drives the run now: earlier offers of it are void.
    pub(super) fn void(&mut self, run_id: &str) -> bool {
        let of_run = self.offered.iter().filter(|(_, offered)| *offered.offer.run_id == *run_id);
        let keys: Vec<_> = of_run.map(|(key, _)| key.clone()).collect();
        keys.iter().for_each(|(by, number)| self.remove(by, *number));
        !keys.is_empty()
    }
}
