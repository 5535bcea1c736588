//! Leases, mail and schedules: what hosts of one store have of each other.

use std::fmt;

use super::{
    Scrape,
    writer::{Labels, MetricWriter},
};

impl Scrape {
    pub(super) fn cluster(&self, sheet: &mut MetricWriter<'_>) -> fmt::Result {
        let (leases, letters, schedules) =
            (&self.measured.leases, &self.measured.letters, &self.measured.schedules);
        let claimed = "Runs that this host has claimed, because they were due or had no host";
        sheet.counter("phasm_leases_claimed", claimed, leases.claimed)?;
        let given_back = "Runs that this host has given back to the store, as they rest";
        sheet.counter("phasm_leases_given_back", given_back, leases.given_back)?;
        let lost = "Runs that another host has claimed while this one had them";
        sheet.counter("phasm_leases_lost", lost, leases.lost)?;
        let interrupted = "Times that a run was stopped, as its store failed";
        sheet.counter("phasm_runs_interrupted", interrupted, leases.interrupted)?;
        let beats = [("ok", leases.heartbeats), ("failed", leases.heartbeats_failed)];
        let heard = "Heartbeats of this host to its store, by whether they succeeded";
        sheet.counters("phasm_heartbeats", heard, with_result(beats))?;
        let waiting = self.census.map(|census| (Vec::new(), census.letters));
        let letters_waiting = "Requests to runs of the store that wait for a reply";
        sheet.gauges("phasm_letters_waiting", letters_waiting, waiting)?;
        let answered = [("carried_out", letters.carried_out), ("refused", letters.refused)];
        let letters = "Requests to runs of this host that were carried out or refused, by result";
        sheet.counters("phasm_letters_answered", letters, with_result(answered))?;
        let instants = [("fired", schedules.fired), ("not_fired", schedules.not_fired)];
        let what = "Times of schedules that this host has handled, by result";
        sheet.counters("phasm_schedule_instants", what, with_result(instants))?;
        let troubles = "Times that this host has found something that keeps a schedule from firing";
        sheet.counter("phasm_schedule_troubles", troubles, schedules.in_trouble)
    }
}

fn with_result(counts: [(&'static str, u64); 2]) -> [(Labels<'static>, u64); 2] {
    counts.map(|(result, count)| (vec![("result", result.into())], count))
}
