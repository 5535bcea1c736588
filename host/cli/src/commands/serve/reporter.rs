//! Output of `serve`: lines for people on stderr, or objects for programs on stdout.

use std::{path::Path, time::Duration};

use phasm::{
    Host, LifecycleChange, RunLifecycleEvent, engine::time::Timestamp, executor::Level, store::StoreError,
};
use serde_json::{Value, json};

use crate::{
    paths,
    store::database,
    terminal::{signals::Signal, text},
    trace::LogFormat,
};

use super::printer::Printer;

/// Where it is told what becomes of runs.
pub(super) struct ServeReporter {
    pub(super) printer: Printer,
    pub(super) as_json: bool,
    /// Format of lines for people.
    pub(super) log: LogFormat,
}

impl ServeReporter {
    fn line(&self, level: Level, shown: &str) {
        self.printer.text(self.log.entry(level, shown));
    }

    /// Says what stands in the way of serving, for now.
    pub(super) fn wait(&self, error: &StoreError) {
        let cause = std::error::Error::source(error).map_or_else(String::new, |cause| format!(": {cause}"));
        let why = format!("{error}{cause}");
        if self.as_json {
            self.printer.object(json!({ "type": "waiting", "why": why }));
            return;
        }
        self.line(
            Level::Warn,
            &format!("{} {}; trying again", text::doubtful("waiting:"), text::clean(&why)),
        );
    }

    /// Says what is served.
    pub(super) fn begin(&self, host: &Host, store: &Path) {
        let store = paths::database_url(store).map_or_else(|| store.display().to_string(), database::shown);
        let plugins = host.plugins().map(phasm::plugins::Plugins::names).unwrap_or_default();
        if self.as_json {
            let plugins: Vec<_> = plugins.iter().map(AsRef::as_ref).collect::<Vec<&str>>();
            let begun = json!({ "type": "serving", "store": store, "host": host.id().as_str(), "slots": host.slots(),
                "plugins": plugins });
            self.printer.object(begun);
            return;
        }
        let plugins =
            if plugins.is_empty() { "only the ones of its runs".to_owned() } else { plugins.join(", ") };
        let (store, plugins) = (text::bold(text::clean(&store)), text::clean(&plugins));
        let (id, slots) = (host.id(), host.slots());
        self.line(Level::Info, &format!("serving {store}\n  host {id}, {slots} slots; plugins: {plugins}"));
    }

    /// Says what may not go as it was meant.
    pub(super) fn doubt(&self, doubt: &str) {
        if self.as_json {
            self.printer.object(json!({ "type": "warning", "message": doubt }));
            return;
        }
        self.line(Level::Warn, &format!("{} {doubt}", text::doubtful("warning:")));
    }

    /// Says where it is reached.
    pub(super) fn listens(&self, url: &str, asks_for_keys: bool, add_key: &str) {
        if self.as_json {
            self.printer.object(json!({ "type": "listening", "url": url, "keys": asks_for_keys }));
            return;
        }
        let keys = if asks_for_keys {
            "an API key is needed".to_owned()
        } else {
            format!("no API key is needed, as only this machine can connect; create one with: {add_key}")
        };
        let listening = text::bold(url);
        let more = format!("  the page: {url}/\n  {keys}; API reference: {url}/v1/docs");
        self.line(Level::Info, &format!("listening on {listening}\n{more}"));
    }

    /// Says what became of a run.
    pub(super) fn tell(&self, tiding: &RunLifecycleEvent) {
        let RunLifecycleEvent { head, what } = tiding;
        if self.as_json {
            let (kind, more) = described(what);
            let mut object = json!({ "type": kind, "runID": &*head.run_id, "workflow": &*head.workflow,
                "namespace": &*head.namespace });
            if let (Some(object), Value::Object(more)) = (object.as_object_mut(), more) {
                object.extend(more);
            }
            self.printer.object(object);
            return;
        }
        let (id, workflow) = (text::dim(text::clean(&head.run_id)), text::bold(text::clean(&head.workflow)));
        self.line(Level::Info, &format!("{id} {workflow} {}", line(what)));
    }

    /// Says that it ends.
    pub(super) fn end(&self, told: Signal, grace: Duration) {
        let grace = text::elapsed(grace.as_millis().try_into().unwrap_or(u64::MAX));
        let more = match told {
            Signal::Interrupt => String::new(),
            Signal::Terminate => {
                format!("; running attempts have {grace} to end; a second signal exits at once")
            }
        };
        self.line(Level::Info, &format!("{}: runs stay open{more}", told.word()));
    }
}

fn described(what: &LifecycleChange) -> (&'static str, Value) {
    match what {
        LifecycleChange::Driven => ("driven", json!({})),
        LifecycleChange::GivenBack(due) => ("given-back", json!({ "due": due.map(Timestamp::to_rfc3339) })),
        LifecycleChange::Ended { phase, remark: None } => ("ended", json!({ "phase": phase.as_str() })),
        LifecycleChange::Ended { phase, remark } => {
            ("ended", json!({ "phase": phase.as_str(), "remark": remark }))
        }
        LifecycleChange::PassedOver(why) => ("passed-over", json!({ "why": why })),
        LifecycleChange::Stopped(why) => ("stopped", json!({ "why": why })),
    }
}

fn line(what: &LifecycleChange) -> String {
    match what {
        LifecycleChange::Driven => "is running here".to_owned(),
        LifecycleChange::GivenBack(Some(due)) => {
            format!("waits until {}, or for a request", due.to_rfc3339())
        }
        LifecycleChange::GivenBack(None) => "waits for a request".to_owned(),
        LifecycleChange::Ended { phase, remark } => text::remarked(text::phase(*phase), remark.as_slice()),
        LifecycleChange::PassedOver(why) => {
            format!("{} {}", text::doubtful("is left to other hosts:"), text::clean(why))
        }
        LifecycleChange::Stopped(why) => format!("{} {}", text::bad("stopped here:"), text::clean(why)),
    }
}
