//! `phasm logs`: what the attempts of a run of a store wrote.

use std::sync::Arc;

use clap::Args;
use phasm::{
    Notice, Watch,
    engine::{
        event::{Event, Fence, TaskId},
        phase::Phase,
        run::{Run, TaskRun},
    },
    is_named,
    store::view::{LineView, LogView},
    store::{AttemptLog, ReadStore},
    tasks_named,
};

use crate::{
    backend::TargetArguments,
    command_line::Target,
    drive::runtime,
    exit::Exit,
    failure::Failure,
    store::runs,
    terminal::{screen::Screen, text},
    trace::{LogLevel, word},
};

/// Prints the output of a run's attempts: the last 64 KiB of each, or the length that `kept-log` of the
/// configuration says.
///
/// The output of an attempt is stored when it ends. Lines of a running attempt are shown where the run is executed.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  phasm logs RUN --store runs.db\n  phasm logs @last main/parse --store runs.db\n  \
                        phasm logs @last -f --store runs.db\n  phasm logs @last main/parse@2 --store runs.db --log-level trace\n  \
                        phasm logs RUN --store runs.db --json | jq -r '.lines[].text'"
)]
pub(crate) struct LogsArguments {
    /// The run: its id, 4 or more characters that only its id begins or ends with, or `@last`.
    #[arg(value_name = "RUN")]
    run: String,

    /// Only tasks of this name: `taskName`, `scope/taskName` or the task run's id; with `@2` only their second attempt.
    #[arg(value_name = "TASK[@ATTEMPT]", value_parser = wanted)]
    task: Option<AttemptSelector>,

    #[command(flatten)]
    store: TargetArguments,

    /// Continue printing the output of attempts as they end, until the run has ended or, of a file, no process has the store.
    #[arg(short, long)]
    follow: bool,

    /// Print one JSON object a line for each attempt, with lines of every level.
    #[arg(long)]
    json: bool,
}

/// Selects the attempts whose logs are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
struct AttemptSelector {
    task: String,
    attempt: Option<u32>,
}

fn wanted(text: &str) -> Result<AttemptSelector, String> {
    let Some((task, attempt)) = text.rsplit_once('@') else {
        return Ok(AttemptSelector { task: text.to_owned(), attempt: None });
    };
    match attempt.parse() {
        Ok(attempt @ 1..) => Ok(AttemptSelector { task: task.to_owned(), attempt: Some(attempt) }),
        _ => Err("expected a task, or a task and the number of an attempt such as `parse@2`".to_owned()),
    }
}

/// Prints logs.
pub(super) fn logs(arguments: &LogsArguments, log_level: LogLevel, screen: &Screen) -> Result<Exit, Failure> {
    let LogsArguments { run, task, store, follow, json } = arguments;
    let target = store.target()?;
    runtime()?.block_on(async {
        let (reader, run_id) = store.find(run).await?;
        let reader = reader.shared();
        let printing = LogPrinter { reader: &*reader, wanted: task.as_ref(), json: *json, log_level, screen };
        let run =
            runs::recorded(&*reader, &run_id).await.map_err(|error| runs::unavailable(error, &target))?;
        let mut found = LogOutput::default();
        for id in tasks(&run, task.as_ref(), *follow, &target)? {
            found = found.and(printing.print(&run, id, None).await?);
        }
        if *follow {
            return printing.follow(Watch::of(Arc::clone(&reader), &run_id, run.seq()), &target).await;
        }
        if !found.any {
            let ends = target.command(&["get", &run_id]);
            screen.err(&format!("no attempt that has ended wrote to its log; how each task ended: {ends}\n"));
        }
        Ok(found.exit())
    })
}

/// Logs that were printed.
#[derive(Clone, Copy, Debug, Default)]
struct LogOutput {
    any: bool,
    /// One of them is not as it was written.
    damaged: bool,
}

impl LogOutput {
    fn and(self, other: Self) -> Self {
        Self { any: self.any || other.any, damaged: self.damaged || other.damaged }
    }

    fn exit(self) -> Exit {
        if self.damaged { Exit::Error } else { Exit::Done }
    }
}

/// Logs on their way to stdout.
struct LogPrinter<'p> {
    reader: &'p dyn ReadStore,
    wanted: Option<&'p AttemptSelector>,
    json: bool,
    log_level: LogLevel,
    screen: &'p Screen,
}

impl LogPrinter<'_> {
    /// Prints what a task run's attempts wrote, or one of them, as far as it is meant.
    async fn print(&self, run: &Run, id: TaskId, ended: Option<Fence>) -> Result<LogOutput, Failure> {
        let meant = |log: &&AttemptLog| {
            let asked = self.wanted.and_then(|wanted| wanted.attempt);
            asked.is_none_or(|attempt| log.attempt == attempt)
                && ended.is_none_or(|fence| (log.attempt, log.dispatch) == (fence.attempt, fence.dispatch))
        };
        let logs = self.reader.logs(run.id(), Some(id.0)).await.map_err(Failure::host)?;
        let mut found = LogOutput::default();
        for log in logs.iter().filter(meant) {
            found = found.and(LogOutput { any: true, damaged: log.damaged });
            if log.damaged {
                let attempt = format!("{}@{}", path(run, log), log.attempt);
                self.screen.err(&format!(
                    "{} the log of {attempt} is damaged: its checksum differs\n",
                    text::bad("error:")
                ));
            }
            let page = if self.json { for_programs(run, log) } else { for_people(run, log, self.log_level) };
            if self.screen.out(&page).is_err() {
                // A closed stdout ends the output.
                std::process::exit(Exit::Done.status().into());
            }
        }
        Ok(found)
    }

    /// Prints what attempts wrote as they end.
    async fn follow(&self, mut watch: Watch, target: &Target) -> Result<Exit, Failure> {
        let mut found = LogOutput::default();
        while let Some(notice) = watch.next().await.map_err(|error| runs::unavailable(error, target))? {
            let (Notice::Record(record), Some(run)) = (notice, watch.run()) else { continue };
            for event in record.body.iter() {
                if let Event::AttemptEnded(ended) = event
                    && self.wanted.is_none_or(|wanted| is_meant(run, ended.fence.task, wanted))
                {
                    found = found.and(self.print(run, ended.fence.task, Some(ended.fence)).await?);
                }
            }
        }
        runs::warn_orphaned(&watch, target, self.screen);
        Ok(found.exit())
    }
}

fn is_meant(run: &Run, id: TaskId, wanted: &AttemptSelector) -> bool {
    run.task(id).is_some_and(|task| is_named(run, task, &wanted.task))
}

/// The task runs that are meant and were tried, in creation order.
fn tasks(
    run: &Run,
    wanted: Option<&AttemptSelector>,
    may_come: bool,
    target: &Target,
) -> Result<Vec<TaskId>, Failure> {
    let tried = |task: &&TaskRun| !task.attempts.is_empty();
    let Some(AttemptSelector { task, .. }) = wanted else {
        return Ok(run.tasks().iter().filter(tried).map(|task| task.id).collect());
    };
    if !may_come && tasks_named(run, task).next().is_none() {
        let all = target.command(&["get", run.id()]);
        let name = text::clean(task);
        return Err(Failure::call(format!("run {} has no task `{name}`; all of its tasks: {all}", run.id())));
    }
    Ok(tasks_named(run, task).filter(tried).map(|task| task.id).collect())
}

/// Where an attempt stands, as far as the journal that was read knows, and the message it ended with.
fn standing(run: &Run, log: &AttemptLog) -> Option<(Phase, Arc<str>)> {
    let task = run.task(TaskId(log.task))?;
    let attempt = task.attempts.iter().find(|attempt| attempt.number == log.attempt)?;
    Some((attempt.phase, Arc::clone(&attempt.message)))
}

fn path(run: &Run, log: &AttemptLog) -> String {
    run.task(TaskId(log.task)).map(|task| run.path(task)).unwrap_or_default()
}

/// A heading, and below it the lines that are not below `least`.
fn for_people(run: &Run, log: &AttemptLog, least: LogLevel) -> String {
    let name = text::bold(format_args!("{}@{}", path(run, log), log.attempt));
    let stands = standing(run, log)
        .map(|(phase, message)| format!(" {}{}", text::phase(phase), text::after(": ", &message)));
    let mut page = format!("{name}{}\n", stands.unwrap_or_default());
    if log.damaged {
        page += &format!("  {}\n", text::bad("damaged: its checksum differs"));
    }
    if log.cut > 0 {
        page += &format!("  {}\n", text::dim(format_args!("… {} bytes before are not kept", log.cut)));
    }
    for line in String::from_utf8_lossy(&log.text).lines().map(LineView::of) {
        if line.level.is_none_or(|level| least.shows(level)) {
            let level = line.level.map(|level| word(level) + " ").unwrap_or_default();
            page += &format!("  {level}{}\n", text::clean(line.text));
        }
    }
    page
}

fn for_programs(run: &Run, log: &AttemptLog) -> String {
    let lines = String::from_utf8_lossy(&log.text);
    // Serialisation cannot fail: all keys are strings and all numbers whole.
    let text = serde_json::to_string(&LogView::of(run, log, &lines)).unwrap_or_default();
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_is_named_behind_its_task() {
        let named = |task: &str, attempt| Ok(AttemptSelector { task: task.to_owned(), attempt });
        for (text, expected) in [
            ("parse", named("parse", None)),
            ("main/parse@2", named("main/parse", Some(2))),
            ("main.loop[3]/parse@12", named("main.loop[3]/parse", Some(12))),
        ] {
            assert_eq!(wanted(text), expected);
        }
        for text in ["parse@", "parse@0", "parse@x", "parse@2@"] {
            assert!(wanted(text).is_err(), "{text}");
        }
    }
}
