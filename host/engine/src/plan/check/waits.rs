//! Waits against the clocks around them: limits that never run out, and retries that never begin.

mod clock;

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
};

use crate::{
    document::{ActionDoc, KindDoc, RecoveryDoc, SettingsDoc, TaskDoc, TemplateDoc},
    form::Site,
    plan::{
        MaxAttempts, TemplateId,
        executors::Defaults,
        resolve::index::{Callee, Index, hooks_of, tasks_of},
    },
    problem::codes::{executors::NEVER_FITS, warnings::DOES_NOT_FIT},
    settings::Backoff,
    text::length,
    time::Millis,
};

use self::clock::{Around, Clock};

/// Hook runs are bounded by their own timeout, else by this (R-S12): 5 min.
const HOOK_TIMEOUT: Millis = 5 * 60 * 1000;

/// Attempts whose delays are added up; by then they are longer than any clock, or will not be.
const MAX_ADDED_DELAYS: u32 = 10_000;

/// Compares every wait with the clocks above it.
pub(super) fn check(index: &Index<'_>, defaults: &Defaults<'_>) {
    let spec = &index.doc.spec;
    let run = spec.timeout.length.map(|length| Clock::of_run(length, &spec.timeout));
    let waits = Waits { index, defaults, told: RefCell::default(), seen: RefCell::default() };
    if let Some(entrypoint) = &spec.entrypoint {
        waits.call(index.called(entrypoint), None, &Around::of(run));
    }
    let on_templates = index.templates().flat_map(|(_, template)| hooks_of(template));
    for name in spec.hooks.iter().chain(on_templates).filter_map(|hook| hook.template.as_ref()) {
        if let Callee::Leaf(_, template) = index.called(name) {
            waits.hook(template);
        }
    }
}

struct Waits<'i, 'a> {
    index: &'i Index<'a>,
    defaults: &'i Defaults<'a>,
    /// Places that were reported: a template has as many calls as it likes.
    told: RefCell<BTreeSet<String>>,
    /// The clocks in which the content of a container was looked at last.
    seen: RefCell<BTreeMap<TemplateId, Around>>,
}

/// The settings of a task at their levels, the nearest first, with the tasks that write them.
struct Levels<'l>(Vec<(&'l SettingsDoc, Option<&'l TaskDoc>)>);

impl<'l> Levels<'l> {
    /// The nearest value of a field, and where it is written unless in a plugin's manifest.
    fn nearest<T>(
        &self,
        field: &str,
        value: impl Fn(&'l SettingsDoc) -> Option<T>,
    ) -> Option<(T, Option<&'l Site>)> {
        self.0
            .iter()
            .find_map(|(settings, task)| Some((value(settings)?, task.and_then(|task| task.site_of(field)))))
    }
}

impl<'a> Waits<'_, 'a> {
    /// Checks a call in the clocks around it, and all that it leads to.
    fn call(&self, callee: Callee<'a>, caller: Option<&'a TaskDoc>, around: &Around) {
        let own = caller.map(|task| (&task.settings, Some(task)));
        match callee {
            Callee::Unknown => {}
            Callee::Inline => {
                let Some(task) = caller else { return };
                let manifest = self.manifest(task);
                let levels = Levels(own.into_iter().chain(manifest.map(|level| (level, None))).collect());
                self.task(&levels, task, around);
            }
            Callee::Leaf(_, template) | Callee::Wrapper(_, template) => {
                let KindDoc::Task(called) = &template.kind else { return };
                let (written, manifest) = ((&template.settings, Some(&**called)), self.manifest(called));
                let farther = std::iter::once(written).chain(manifest.map(|level| (level, None)));
                let levels = Levels(own.into_iter().chain(farther).collect());
                let inside = self.task(&levels, called, around);
                if let Some((id, wrapped)) = self.index.wrapped(template) {
                    self.container(id, wrapped, None, &inside);
                }
            }
            Callee::Container(id, template) => self.container(id, template, caller, around),
        }
    }

    fn container(
        &self,
        id: TemplateId,
        template: &'a TemplateDoc,
        caller: Option<&'a TaskDoc>,
        around: &Around,
    ) {
        let called = caller.and_then(|task| Some((task.settings.timeout?, task.site_of("timeout"))));
        let own = template.settings.timeout.map(|length| (length, Some(&template.site)));
        let mut inside = around.clone();
        if let Some((length, site)) = called.or(own) {
            let clock = Clock::written("timeout", length);
            self.limit(&clock, site, around.tightest());
            let name = template.name.as_ref().map_or("", |name| &*name.value);
            inside.add(Clock::written(&format!("timeout` of `{name}"), length));
        }
        // Its content was compared with clocks as short already, unless these are shorter. So a template that calls itself ends here.
        let known = self.seen.borrow().get(&id).is_some_and(|seen| seen.is_within(&inside));
        if known {
            return;
        }
        self.seen.borrow_mut().insert(id, inside.clone());
        for task in tasks_of(template).into_iter().flat_map(|tasks| &tasks.list) {
            self.call(self.index.callee(task), Some(task), &inside);
        }
        if let KindDoc::Loop(read) = &template.kind
            && let Some(body) = &read.body
        {
            self.call(self.index.called(body), None, &inside);
        }
    }

    /// A hook run stands in no scope; its own clocks alone bound it.
    fn hook(&self, template: &'a TemplateDoc) {
        let KindDoc::Task(called) = &template.kind else { return };
        let manifest = self.manifest(called);
        let written = (&template.settings, Some(&**called));
        let levels = Levels(std::iter::once(written).chain(manifest.map(|level| (level, None))).collect());
        let by_default = template.settings.timeout.is_none().then(|| Clock::of_hook(HOOK_TIMEOUT));
        self.task(&levels, called, &Around::of(by_default));
    }

    fn manifest(&self, task: &TaskDoc) -> Option<&SettingsDoc> {
        task.executor().and_then(|executor| self.defaults.get(&*executor.kind.value))
    }

    /// Checks the waits of one task; returns the clocks around its work.
    fn task(&self, levels: &Levels<'_>, task: &TaskDoc, around: &Around) -> Around {
        let waits_for_people = task.executor().is_some_and(|executor| self.index.suspends(executor));
        let outer = if waits_for_people { around.written() } else { around.tightest() };
        let absolute = [
            ("timeout", levels.nearest("timeout", |level| level.timeout)),
            ("deadline", levels.nearest("deadline", |level| level.deadline.map(|policy| policy.timeout))),
        ];
        let mut inside = around.clone();
        for (field, found) in absolute {
            let Some((length, site)) = found else { continue };
            let clock = Clock::written(field, length);
            match outer.filter(|outer| waits_for_people && outer.length < length) {
                Some(outer) => self.never_fits(&clock, site, outer),
                None => self.limit(&clock, site, outer),
            }
            inside.add(clock);
        }
        self.delays(levels, inside.tightest());
        // The content of a wrapper has to fit its attempts.
        if let Some((policy, _)) = levels.nearest("maxRuntime", |level| level.max_runtime) {
            inside.add(Clock::written("maxRuntime", policy.timeout));
        }
        inside
    }

    /// Checks the delays of a task's retries against the first clock that ends it.
    fn delays(&self, levels: &Levels<'_>, clock: Option<&Clock>) {
        let Some(clock) = clock else { return };
        let found = levels.nearest("retry", |level| level.recovery.as_ref());
        match found {
            Some((RecoveryDoc::Retry(retry), site)) => {
                self.retries(retry.max_attempts, retry.backoff, site, clock);
            }
            Some((RecoveryDoc::Policy(policy), _)) => {
                for rule in &policy.rules {
                    if let ActionDoc::Retry { attempts, backoff } = &rule.action {
                        self.retries(*attempts, *backoff, Some(&rule.site), clock);
                    }
                }
            }
            None => {}
        }
    }

    fn retries(&self, attempts: MaxAttempts, backoff: Backoff, site: Option<&Site>, clock: &Clock) {
        let most = match attempts {
            MaxAttempts::Limited(most) => most,
            MaxAttempts::Unlimited => return self.first_delay(backoff, site, clock),
        };
        if most < 2 {
            return;
        }
        let delays = (1..most.min(MAX_ADDED_DELAYS)).map(|attempt| backoff.delay_after(attempt));
        let all = delays.fold(0, Millis::saturating_add);
        if backoff.delay_after(1) >= clock.length {
            self.first_delay(backoff, site, clock);
        } else if all >= clock.length {
            let message = format!(
                "the delays between {most} attempts take {} in all; {clock} ends the task after {}",
                length(all),
                length(clock.length)
            );
            self.warn(site, message, "allow more time, or make fewer attempts or shorter delays");
        }
    }

    fn first_delay(&self, backoff: Backoff, site: Option<&Site>, clock: &Clock) {
        let delay = backoff.delay_after(1);
        if delay >= clock.length {
            let message = format!(
                "a delay of {} before a retry; {clock} ends the task after {}, so that no retry begins",
                length(delay),
                length(clock.length)
            );
            self.warn(site, message, "allow more time, or make the delay shorter");
        }
    }

    /// A limit that another clock always meets first.
    fn limit(&self, clock: &Clock, site: Option<&Site>, outer: Option<&Clock>) {
        let Some(outer) = outer.filter(|outer| outer.length < clock.length) else { return };
        let message = format!(
            "{clock} of {} never runs out; {outer} ends the task after {}",
            length(clock.length),
            length(outer.length)
        );
        self.warn(site, message, &outer.hint());
    }

    fn never_fits(&self, clock: &Clock, site: Option<&Site>, outer: &Clock) {
        let Some(site) = site.filter(|site| self.is_new(site)) else { return };
        let message = format!(
            "{clock} of {} waits for people longer than {outer} of {} allows; expected it to fit",
            length(clock.length),
            length(outer.length)
        );
        self.index.report.problem(site.problem(&NEVER_FITS, message).with_hint(outer.hint()));
    }

    fn warn(&self, site: Option<&Site>, message: String, hint: &str) {
        if let Some(site) = site.filter(|site| self.is_new(site)) {
            self.index.report.warning(site.problem(&DOES_NOT_FIT, message).with_hint(hint));
        }
    }

    fn is_new(&self, site: &Site) -> bool {
        self.told.borrow_mut().insert(site.path.to_string())
    }
}
