//! Runs, attempts and what they are executed on.

use std::{borrow::Cow, collections::BTreeMap, fmt};

use phasm::{
    metrics::{PhaseCounts, TenantUse},
    store::Census,
};

use super::{
    Scrape,
    writer::{Labels, MetricWriter},
};

/// Under what those are told who are not told apart. No executor and no tenant of that name is hidden: it is counted with them.
const OTHER: &str = "other";

fn by(name: &'static str, value: &'static str) -> Labels<'static> {
    vec![(name, value.into())]
}

fn by_phase(counts: &PhaseCounts) -> impl Iterator<Item = (Labels<'static>, u64)> {
    counts.0.iter().map(|(phase, count)| (by("phase", phase.as_str()), *count))
}

impl Scrape {
    pub(super) fn runs(&self, sheet: &mut MetricWriter<'_>) -> fmt::Result {
        let measured = &self.measured;
        sheet.counter(
            "phasm_runs_submitted",
            "New runs that were made durable here",
            measured.runs_submitted,
        )?;
        sheet.counters(
            "phasm_runs_ended",
            "Runs that ended here, by phase",
            by_phase(&measured.runs_ended),
        )?;
        let tasks = "Task and hook runs, containers included, that ended here, by phase";
        sheet.counters("phasm_tasks_ended", tasks, by_phase(&measured.tasks_ended))?;
        let open = "Runs of the store that have not ended, by the host that runs them";
        let census = self.census.into_iter().flat_map(|Census { owned, due, waiting, parked, .. }| {
            [("driven", owned), ("due", due), ("waiting", waiting), ("parked", parked)]
        });
        sheet.gauges("phasm_runs_open", open, census.map(|(state, count)| (by("state", state), count)))?;
        sheet.gauge("phasm_runs_driven", "Runs that this host is running", measured.leases.driven)?;
        sheet.gauge("phasm_runs_loaded", "Runs in memory", self.loaded)
    }

    pub(super) fn attempts(&self, sheet: &mut MetricWriter<'_>) -> fmt::Result {
        let measured = &self.measured;
        let begun = "Attempts that have begun on this host";
        sheet.counter("phasm_attempts_begun", begun, measured.attempts_begun)?;
        let ended = "Attempts that ended on this host, by executor and result";
        let codes = measured.attempts_ended.iter().flat_map(|of| {
            let executor = of.executor.as_deref().unwrap_or(OTHER);
            let told = of.ended.iter().filter(|(_, count)| *count > 0);
            told.map(move |(ended, count)| (executor, ended.word(), *count))
        });
        let mut codes: Vec<_> = codes.collect();
        merge(&mut codes);
        let codes = codes.into_iter();
        let codes = codes.map(|(executor, code, count)| {
            (vec![("executor", Cow::from(executor)), ("code", code.into())], count)
        });
        sheet.counters("phasm_attempts_ended", ended, codes)?;
        sheet.gauge("phasm_attempts_executing", "Attempts that this host executes", measured.executing())?;
        let slots = &measured.slots;
        let waiting = [("slot", slots.waiting), ("quota", slots.waiting_for_quota)];
        let waiting = waiting.map(|(what, count)| (by("for", what), count));
        sheet.gauges(
            "phasm_attempts_waiting",
            "Attempts of this host's runs that wait, by reason",
            waiting,
        )?;
        let dispatch = "From when an attempt could have begun to its start";
        sheet.times("phasm_dispatch", dispatch, Some(&measured.dispatch))?;
        sheet.times("phasm_attempt", "From the start of an attempt to its end", Some(&measured.attempt))?;
        sheet.gauge("phasm_slots", "Attempts that may be in flight", slots.total)?;
        sheet.gauge("phasm_slots_lent", "Slots that runs have", slots.lent)?;
        let of_each = |of: fn(&TenantUse) -> u64| {
            let mut tenants = BTreeMap::<&str, u64>::new();
            for tenant in &slots.tenants {
                *tenants.entry(tenant.tenant.as_deref().unwrap_or(OTHER)).or_default() += of(tenant);
            }
            tenants.into_iter().map(|(name, count)| (vec![("tenant", name.into())], count))
        };
        sheet.gauges("phasm_tenant_slots_lent", "Slots that runs of a tenant have", of_each(|of| of.lent))?;
        let waiting = "Attempts of a tenant's runs that wait for a slot or its quota";
        sheet.gauges("phasm_tenant_attempts_waiting", waiting, of_each(|of| of.waiting))
    }

    pub(super) fn sandbox(&self, sheet: &mut MetricWriter<'_>) -> fmt::Result {
        let sandbox = self.measured.sandbox.as_ref();
        let one = |value: Option<u64>| value.map(|value| (Vec::new(), value));
        let slots = sandbox.map(|sandbox| sandbox.slots.into());
        sheet.gauges("phasm_sandbox_slots", "Slots of the pool of guests", one(slots))?;
        let used = sandbox.map(|sandbox| sandbox.slots_used.into());
        sheet.gauges("phasm_sandbox_slots_used", "Slots of the pool that guests have", one(used))?;
        let beyond = "Memory that guests have beyond the parts of their slots";
        sheet.bytes(
            "phasm_sandbox_shared_memory",
            beyond,
            one(sandbox.map(|sandbox| sandbox.memory_beyond)),
        )?;
        let most = "Memory that there is for guests beyond the parts of their slots";
        let of_all = one(sandbox.map(|sandbox| sandbox.memory_beyond_most));
        sheet.bytes("phasm_sandbox_shared_memory_limit", most, of_all)?;
        let processes = sandbox.into_iter().flat_map(|sandbox| {
            [("calling", sandbox.processes), ("idle", sandbox.processes_idle)]
                .map(|(state, count)| (by("state", state), count))
        });
        sheet.gauges("phasm_sandbox_processes", "Processes of guests, by state", processes)?;
        let most = sandbox.map(|sandbox| sandbox.processes_most.into());
        sheet.gauges("phasm_sandbox_processes_limit", "Processes that may call guests at once", one(most))?;
        let started = sandbox.map(|sandbox| (Vec::new(), sandbox.processes_started));
        sheet.counters(
            "phasm_sandbox_processes_started",
            "Processes that were started for guests",
            started,
        )?;
        let faults = sandbox.into_iter().flat_map(|sandbox| &sandbox.faults);
        let faults = faults.map(|(kind, count)| (by("kind", kind.word()), *count));
        sheet.counters("phasm_sandbox_faults", "Calls that did not return, by how they ended", faults)
    }
}

/// An executor that is called as those are that are counted together is counted with them.
fn merge(codes: &mut Vec<(&str, &'static str, u64)>) {
    codes.sort_unstable();
    codes.dedup_by(|next, kept| {
        let same = (next.0, next.1) == (kept.0, kept.1);
        kept.2 += if same { next.2 } else { 0 };
        same
    });
}
