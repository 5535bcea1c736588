//! Wall and CPU time of a stretch of work, and the table they are printed in.

use std::time::{Duration, Instant};

/// The cost of a number of tasks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measure {
    pub(crate) tasks: u64,
    pub(crate) wall: Duration,
    pub(crate) cpu: Duration,
}

/// A measurement that goes on.
pub(crate) struct Measuring {
    wall: Instant,
    cpu: Duration,
}

impl Measure {
    pub(crate) fn start() -> Measuring {
        Measuring { wall: Instant::now(), cpu: cpu_time() }
    }

    pub(crate) fn wall_micros(&self) -> f64 {
        self.wall.as_secs_f64() * 1e6 / self.tasks as f64
    }

    fn cpu_micros(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.tasks as f64
    }

    /// The least of both, in each kind of time.
    pub(crate) fn least(self, other: Self) -> Self {
        Self { wall: self.wall.min(other.wall), cpu: self.cpu.min(other.cpu), ..self }
    }
}

impl Measuring {
    pub(crate) fn stop(self, tasks: u64) -> Measure {
        Measure { tasks, wall: self.wall.elapsed(), cpu: cpu_time().saturating_sub(self.cpu) }
    }
}

/// Both in turns, `rounds` times, and the least of each: what else the machine does strikes one as much as the other.
pub(crate) fn in_turns(
    rounds: u32,
    mut floor: impl FnMut() -> Measure,
    mut work: impl FnMut() -> Measure,
) -> (Measure, Measure) {
    let (mut least_floor, mut least) = (floor(), work());
    for _ in 1..rounds {
        (least_floor, least) = (least_floor.least(floor()), least.least(work()));
    }
    (least_floor, least)
}

/// CPU time of the whole process so far.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Prints what stands above the rows.
pub(crate) fn head() {
    println!(
        "{:<48} {:>9} {:>9} {:>9} {:>9} {:>7} {:>7}",
        "what", "tasks", "tasks/s", "wall us", "CPU us", "x wall", "x CPU"
    );
}

/// Prints a row beside its floor.
pub(crate) fn row(what: &str, measure: &Measure, floor: &Measure) {
    println!(
        "{what:<48} {:>9} {:>9.0} {:>9.1} {:>9.1} {:>7.2} {:>7.2}",
        measure.tasks,
        measure.tasks as f64 / measure.wall.as_secs_f64(),
        measure.wall_micros(),
        measure.cpu_micros(),
        measure.wall_micros() / floor.wall_micros(),
        measure.cpu_micros() / floor.cpu_micros(),
    );
}

/// Prints a floor, and rows below it.
pub(crate) fn below(what: &str, floor: &Measure, rows: &[(&str, Measure)]) {
    row(&format!("floor: {what}"), floor, floor);
    for (what, measure) in rows {
        row(what, measure, floor);
    }
}
