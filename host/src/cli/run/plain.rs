//! What happens, line by line, where nothing can be drawn over.

use phasm::engine::phase::Phase;
use serde_json::Value;

use super::{super::text, notices};

/// Task runs above which good ends are counted instead of told.
const MANY: u64 = 100;

/// Makes lines of a run's journal: one for each change worth telling.
#[derive(Debug, Default)]
pub(super) struct Plain {
    tasks: u64,
    ended: u64,
    /// The tenths of a large run that were told.
    tenths: u64,
    /// How long the last attempt took, and whose it was.
    last: Option<(String, u64)>,
}

impl Plain {
    /// The line of one event, if it is worth one.
    pub(super) fn line(&mut self, event: &Value) -> Option<String> {
        let data = &event["data"];
        let attempt = event["attempt"].as_u64().unwrap_or(0);
        let path = notices::path(event);
        match event["type"].as_str()? {
            "scope.opened" => {
                self.tasks += data["tasks"].as_u64().unwrap_or(0);
                None
            }
            "task.attempt.started" if self.tasks <= MANY => Some(told(&path?, attempt, "Running", None, "")),
            "task.attempt.done" | "task.attempt.failed" => {
                self.last = Some((path?, data["durationMs"].as_u64()?));
                None
            }
            "task.retry.scheduled" => {
                let next = data["attempt"].as_u64().unwrap_or(0);
                let delay = text::elapsed(data["delayMs"].as_u64().unwrap_or(0));
                Some(told(&path?, attempt, "ended", None, &format!("attempt {next} in {delay}")))
            }
            "task.timeout" => {
                let which = data["which"].as_str().unwrap_or("timeout");
                Some(told(&path?, attempt, which, None, "has passed"))
            }
            "task.phase" => self.phase(&path?, event),
            _ => None,
        }
    }

    fn phase(&mut self, path: &str, event: &Value) -> Option<String> {
        let (data, attempt) = (&event["data"], event["attempt"].as_u64().unwrap_or(0));
        let name = data["to"].as_str()?;
        let phase = Phase::ALL.into_iter().find(|phase| phase.as_str() == name)?;
        let message = data["message"].as_str().unwrap_or_default();
        let reason = data["reason"].as_str();
        if phase == Phase::Suspended {
            return Some(told(path, attempt, &text::phase(phase), reason, message));
        }
        if !phase.is_terminal() || (attempt == 0 && event["scope"] == "") {
            return None;
        }
        self.ended += 1;
        if self.tasks > MANY && matches!(phase, Phase::Succeeded | Phase::Skipped) {
            return self.tenth();
        }
        let took = self.last.take().filter(|(of, _)| of == path).map(|(_, millis)| text::elapsed(millis));
        let rest = match (took, message) {
            (None, message) => message.to_owned(),
            (Some(took), "") => format!("in {took}"),
            (Some(took), message) => format!("in {took}: {message}"),
        };
        Some(told(path, attempt, &text::phase(phase), reason, &rest))
    }

    /// A line for every tenth of a large run.
    fn tenth(&mut self) -> Option<String> {
        let tenths = self.ended * 10 / self.tasks.max(1);
        if tenths <= self.tenths {
            return None;
        }
        self.tenths = tenths;
        Some(format!("{} of {} task runs have ended\n", self.ended, self.tasks))
    }
}

fn told(path: &str, attempt: u64, what: &str, reason: Option<&str>, rest: &str) -> String {
    let attempt = if attempt > 0 { format!("[{attempt}]") } else { String::new() };
    let reason = reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
    let rest = if rest.is_empty() { String::new() } else { format!(" {}", text::short(rest, 200)) };
    format!("{path}{attempt} {what}{reason}{rest}\n")
}
