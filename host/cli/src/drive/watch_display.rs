//! Follows a run of another process, drawn or line by line.

use std::collections::BTreeMap;

use phasm::{
    Notice, RecoverError, Watch,
    clock::Clock,
    engine::{event::Event, run::Run},
    journal::StepRecord,
};

use super::{
    line_reporter::LineReporter,
    live_view, notices,
    session::{MAX_ROWS, frames},
    snapshot::Snapshot,
};
use crate::{
    command_line::Target,
    terminal::screen::{Lines, Screen},
};

/// Shows what a watch hears.
pub(crate) struct Watching {
    watch: Watch,
    /// Events that had happened before: the run is shown as it stands after them.
    already: u64,
    plain: Option<LineReporter>,
    screen: Screen,
    clock: Clock,
    frame: usize,
}

impl Watching {
    pub(crate) fn new(watch: Watch, already: u64, screen: &Screen) -> Self {
        let (clock, screen) = (Clock::start(), screen.clone());
        Self { watch, already, plain: None, screen, clock, frame: 0 }
    }

    /// The run as it was heard of last.
    pub(crate) const fn run(&self) -> Option<&Run> {
        self.watch.run()
    }

    /// Shows the run until it has ended, or until no process reports any more.
    pub(crate) async fn follow(&mut self) -> Result<(), RecoverError> {
        let (mut lines, mut frames) = (self.screen.lines(), frames());
        loop {
            tokio::select! {
                biased;
                _ = frames.tick(), if self.screen.is_live() && self.plain.is_some() => self.draw(&mut lines),
                notice = self.watch.next() => match notice? {
                    Some(Notice::Record(record)) => self.tell(&record),
                    Some(Notice::Log(_) | Notice::Progress(_) | Notice::Missed(_)) => {}
                    None => return Ok(()),
                },
            }
        }
    }

    fn tell(&mut self, record: &StepRecord) {
        let Some(run) = self.watch.run() else { return };
        let Some(plain) = &mut self.plain else {
            if record.next_seq() >= self.already {
                self.plain = Some(LineReporter::after(run));
            }
            return;
        };
        let is_live = self.screen.is_live();
        let lines = self.watch.views(record).filter_map(|view| {
            if let Event::Warning(_) = view.event() {
                return Some(notices::warning(&view.json()));
            }
            if is_live { None } else { plain.line(&view) }
        });
        let lines: String = lines.collect();
        if !lines.is_empty() {
            self.screen.err(&lines);
        }
    }

    fn draw(&mut self, lines: &mut Lines) {
        let Some(run) = self.watch.run() else { return };
        self.frame = self.frame.wrapping_add(1);
        let snapshot = Snapshot::of(run, MAX_ROWS);
        let width = self.screen.width();
        let now = self.clock.now();
        lines.draw(&live_view::lines(&snapshot, now, Some(self.frame), width, &BTreeMap::new()));
    }
}

/// Returns the hint about an open run that no process is running.
pub(crate) fn recover_hint(run: &Run, target: &Target) -> String {
    let go_on = target.command(&["recover", run.id()]);
    format!("no process has the run now; resume it with: {go_on}\n")
}
