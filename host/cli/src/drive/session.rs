//! Follows one run: tells what happens, answers suspensions, hears interrupts.

mod stopping;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use phasm::{
    Notice, RequestError, RunError, RunHandle, Watch,
    clock::Clock,
    engine::{event::Event, phase::Phase, run::EventView, time::Millis},
    executor::Level,
    store::StoreError,
};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval, sleep_until};

use self::stopping::StopState;
use super::{
    DriveOptions, RunSummary, SessionEnd,
    answers::{Answers, PendingAnswer},
    line_reporter::LineReporter,
    live_view, notices,
    snapshot::Snapshot,
};
use crate::{
    exit::Exit,
    failure::{ContextError, Failure},
    store::local_user::local_user,
    terminal::{
        screen::{Lines, Screen},
        signals::{Interrupts, Signal, SignalCount},
        text,
    },
};

/// How often a terminal is drawn anew.
const FRAME_INTERVAL: Duration = Duration::from_millis(100);
/// Maximum number of events that are taken at once.
const MAX_NOTICES: usize = 4096;
/// A clock of a run in memory that ends the wait sooner is awaited, in milliseconds.
const NEAR: Millis = 60_000;
/// Task runs shown at once while a run goes on, and at its end.
pub(super) const MAX_ROWS: usize = 16;
const MAX_FINAL_ROWS: usize = 40;

/// One run as the command line follows it.
pub(super) struct Session {
    options: DriveOptions,
    screen: Screen,
    handle: RunHandle,
    /// Stands before every line about this run, where it is not the only one.
    prefix: String,
    answers: Answers,
    /// Whether a task may be suspended.
    suspensions: bool,
    /// Suspended tasks that have been reported.
    told: Vec<PendingAnswer>,
    plain: LineReporter,
    /// The last thing each attempt said about its progress.
    progress: BTreeMap<Arc<str>, String>,
    /// Lines for stdout, written once a batch.
    events: String,
    clock: Clock,
    frame: usize,
    /// Part of the run that a terminal shows.
    seen: Option<Snapshot>,
    stopping: Option<StopState>,
}

impl Session {
    pub(super) fn new(
        options: DriveOptions,
        screen: &Screen,
        handle: RunHandle,
        plain: LineReporter,
        answers: Answers,
        prefix: String,
    ) -> Self {
        let plain = plain.beside_log(options.log_level.shows(Level::Warn));
        Self {
            options,
            screen: screen.clone(),
            handle: handle.by(local_user()),
            prefix,
            answers,
            // A run that was taken up may have been parked all the time.
            suspensions: true,
            told: Vec::new(),
            plain,
            progress: BTreeMap::new(),
            events: String::new(),
            clock: Clock::start(),
            frame: 0,
            seen: None,
            stopping: None,
        }
    }

    /// Follows the run until it has ended, only waits for answers, or is left.
    ///
    /// # Errors
    /// When the run's store failed.
    pub(super) async fn follow(
        mut self,
        mut watch: Watch,
        mut interrupts: Interrupts,
    ) -> Result<SessionEnd, Failure> {
        let handle = self.handle.clone();
        let ended = handle.ended();
        tokio::pin!(ended);
        let mut lines = self.screen.lines();
        let mut frames = frames();
        let mut hears = true;
        let mut stopped = self.hear(None, &mut watch).await?;
        while stopped.is_none() {
            let leaves_at = self.leaves_at();
            // In this order: a flood of notices holds up neither interrupts nor frames.
            tokio::select! {
                biased;
                SignalCount { told, count } = interrupts.next() => {
                    if self.stopping.is_some() || count > 1 {
                        self.leave_frame(lines);
                        return Ok(SessionEnd::Abandoned(told));
                    }
                    self.stop(told);
                    self.tell_stop();
                }
                _ = frames.tick(), if self.screen.is_live() => self.draw(&mut lines).await,
                notice = watch.next(), if hears => match notice {
                    Ok(notice) => {
                        hears = notice.is_some();
                        stopped = self.hear(notice, &mut watch).await?;
                    }
                    Err(error) => {
                        hears = false;
                        self.say(&notices::deaf(&error));
                    }
                },
                over = &mut ended => {
                    over.map_err(lost)?;
                    break;
                }
                () = sleep_until(leaves_at.unwrap_or_else(Instant::now)), if leaves_at.is_some() => {}
            }
            if let Some(StopState::Leaving(told, until)) = self.stopping {
                stopped = tokio::select! {
                    left = self.left(told, until) => left?,
                    heard = interrupts.next() => {
                        self.leave_frame(lines);
                        return Ok(SessionEnd::Abandoned(heard.told));
                    }
                };
            }
        }
        if hears {
            self.tell_rest(&mut watch, stopped.is_none()).await;
        }
        self.flush();
        self.look(MAX_FINAL_ROWS).await;
        self.leave_frame(lines);
        match stopped {
            Some(stopped) => Ok(stopped),
            None => self.leave().await,
        }
    }

    /// Past events are reported before the current state. A run that continues has no last event.
    async fn tell_rest(&mut self, watch: &mut Watch, is_over: bool) {
        let mut left = if is_over { usize::MAX } else { MAX_NOTICES };
        while left > 0
            && let Ok(Some(notice)) = watch.known().await
        {
            self.tell(&notice, watch);
            left -= 1;
        }
    }

    /// Reports new events, and answers suspended tasks. Returns an end if only an answer could continue the run and none is waited for.
    async fn hear(
        &mut self,
        mut notice: Option<Notice>,
        watch: &mut Watch,
    ) -> Result<Option<SessionEnd>, Failure> {
        let mut told = 0;
        while let Some(heard) = notice.take() {
            self.tell(&heard, watch);
            told += 1;
            if told < MAX_NOTICES {
                // An error is reported when the next notice is waited for.
                notice = watch.try_next().unwrap_or_default();
            }
        }
        self.flush();
        if self.suspensions { self.see_to_suspended().await } else { Ok(None) }
    }

    fn tell(&mut self, notice: &Notice, watch: &Watch) {
        if self.options.events {
            self.events += &notices::json_lines(notice, watch, self.handle.id(), self.clock.now());
        }
        match notice {
            Notice::Record(record) => {
                let lines: String = watch.views(record).filter_map(|view| self.line(&view)).collect();
                if !lines.is_empty() {
                    self.say(&lines);
                }
            }
            Notice::Missed(count) => self.say(&notices::missed(*count)),
            Notice::Log(line) if self.options.log_level.shows(line.level) => {
                self.say(&notices::log_line(line));
            }
            Notice::Log(_) => {}
            Notice::Progress(note) => {
                self.progress.insert(Arc::clone(&note.task), notices::progress(note));
            }
        }
    }

    /// The line of an event, if it is worth one here.
    fn line(&mut self, view: &EventView<'_>) -> Option<String> {
        self.suspensions |= notices::is_suspension(view.event());
        if let Event::Warning(_) = view.event() {
            return Some(notices::warning(&view.json()));
        }
        if self.screen.is_live() { None } else { self.plain.line(view) }
    }

    /// Prints lines about this run to stderr.
    fn say(&self, lines: &str) {
        if self.prefix.is_empty() {
            return self.screen.err(lines);
        }
        let prefixed = lines.split_inclusive('\n').flat_map(|line| [self.prefix.as_str(), line]);
        self.screen.err(&prefixed.collect::<String>());
    }

    /// Writes the buffered output. A closed stdout ends the run, as nothing reads its results.
    fn flush(&mut self) {
        let events = std::mem::take(&mut self.events);
        if !events.is_empty() && self.screen.out(&events).is_err() && self.stopping.is_none() {
            self.stop(Signal::Interrupt);
        }
    }

    async fn see_to_suspended(&mut self) -> Result<Option<SessionEnd>, Failure> {
        if matches!(self.stopping, Some(StopState::Leaving(..))) {
            // An answer would begin an attempt. It is given when the run is resumed.
            return Ok(None);
        }
        let look = self.handle.look(|run| {
            let ends_soon = run.next_wait().is_some_and(|at| at.since(run.now()) < NEAR);
            (run.is_parked(), ends_soon, PendingAnswer::of(run))
        });
        let (parked, ends_soon, waiting) = look.await.map_err(lost)?;
        self.suspensions = !waiting.is_empty();
        let mut answered = false;
        for task in &waiting {
            if let Some(payload) = self.answers.take(task) {
                answered |= self.handle.resume(&task.id, payload).await.map_err(refused)?;
            }
        }
        if !parked || answered || self.stopping.is_some() {
            return Ok(None);
        }
        // A run in memory cannot be resumed: the end of a near clock is awaited.
        let stays = self.options.stays || (self.options.target.is_none() && ends_soon);
        if !stays {
            self.tell_unused();
            if self.options.target.is_none() {
                self.say(&lost_with_process(&waiting));
            }
            let stands = self.stands("suspended").await?;
            let is_refused = self.answers.are_refused(&waiting);
            return Ok(Some(SessionEnd::Parked { stands, is_refused }));
        }
        // A refusal has a line of its own, and the question is still the same.
        let is_known = |task: &PendingAnswer| {
            self.told.iter().any(|told| told == task || (task.is_refused && told.id == task.id))
        };
        if !waiting.iter().all(is_known) {
            self.say(&waits_for(&waiting));
        }
        self.told = waiting;
        Ok(None)
    }

    /// How the run stands, which is `open`.
    async fn stands(&self, open: &'static str) -> Result<RunSummary, Failure> {
        let options = self.options.clone();
        self.handle.look(move |run| RunSummary::of(run, open, &options)).await.map_err(lost)
    }

    async fn draw(&mut self, lines: &mut Lines) {
        self.look(MAX_ROWS).await;
        self.frame = self.frame.wrapping_add(1);
        lines.draw(&self.picture(Some(self.frame)));
    }

    /// Looks at the run. One that has just ended, or whose store has failed, says so itself.
    async fn look(&mut self, most: usize) {
        if self.screen.is_live()
            && let Ok(snapshot) = self.handle.look(move |run| Snapshot::of(run, most)).await
        {
            self.seen = Some(snapshot);
        }
    }

    /// The run as it was seen last.
    fn picture(&self, frame: Option<usize>) -> Vec<String> {
        let Some(snapshot) = &self.seen else { return Vec::new() };
        live_view::lines(snapshot, self.clock.now(), frame, self.screen.width(), &self.progress)
    }

    /// Leaves the run on the terminal as it was seen last.
    fn leave_frame(&self, lines: Lines) {
        lines.leave(&self.picture(None));
    }

    fn tell_unused(&self) {
        for task in self.answers.unused() {
            let message = format!("--resume {task}=… was not used: no task of that name was suspended");
            self.say(&format!("{} {message}\n", text::doubtful("warning:")));
        }
    }

    async fn leave(self) -> Result<SessionEnd, Failure> {
        self.tell_unused();
        let run = self.handle.ended().await.map_err(lost)?;
        if !self.prefix.is_empty() {
            let root = run.tasks().first();
            let ended = text::ended(run.phase(), root.and_then(|root| root.reason));
            let remarks = root.map(|root| run.remarks(root)).unwrap_or_default();
            self.say(&format!("{}\n", text::remarked(ended, &remarks)));
        }
        let stands = RunSummary::of(&run, "", &self.options);
        Ok(match self.stopping {
            Some(StopState::Cancelling(told)) if run.counts_as() == Phase::Cancelled => {
                SessionEnd::Interrupted(told, stands)
            }
            Some(StopState::Cancelling(_) | StopState::Leaving(..)) | None => SessionEnd::Over(stands),
        })
    }
}

pub(super) fn frames() -> Interval {
    let mut frames = interval(FRAME_INTERVAL);
    frames.set_missed_tick_behavior(MissedTickBehavior::Delay);
    frames
}

/// A run in memory cannot be resumed: what the call has to be for it to continue.
fn lost_with_process(waiting: &[PendingAnswer]) -> String {
    let task = waiting.first().map_or("TASK", |task| &task.name);
    format!(
        "only a response can continue this run, and it is kept in memory, which ends with this command: respond with \
         `--resume {}=JSON`, wait for its timeout with `--wait`, or keep the run with `--store FILE` and respond later\n",
        text::clean(task)
    )
}

fn waits_for(waiting: &[PendingAnswer]) -> String {
    let line = |task: &PendingAnswer| {
        let until = task.until.as_ref().map(|until| format!(" until {until}")).unwrap_or_default();
        let message = text::after(": ", &task.message);
        format!("waiting: {} needs a response{until}{message}\n", text::clean(&task.path))
    };
    let lines: String = waiting.iter().map(line).collect();
    lines + "waiting for a timeout, or for Ctrl-C to cancel\n"
}

fn lost(error: RunError) -> Failure {
    match &error {
        RunError::Lost(lost) if matches!(**lost, StoreError::Gone { .. }) => {
            Failure::with(Exit::StoreGone, error)
        }
        RunError::Lost(_) | RunError::Closed => Failure::host(error),
    }
}

fn refused(error: RequestError) -> Failure {
    Failure::host(ContextError::new("the response was not delivered to a suspended task", error))
}
