//! Wall and CPU time of a stretch of work, and the table they are printed in.

use std::time::{Duration, Instant};

/// What a number of tasks cost.
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

    fn wall_micros(&self) -> f64 {
        self.wall.as_secs_f64() * 1e6 / self.tasks as f64
    }

    fn cpu_micros(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.tasks as f64
    }
}

impl Measuring {
    pub(crate) fn stop(self, tasks: u64) -> Measure {
        Measure { tasks, wall: self.wall.elapsed(), cpu: cpu_time().saturating_sub(self.cpu) }
    }
}

/// CPU time of the whole process so far.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Prints rows as they come.
pub(crate) struct Table {
    floor: Option<Measure>,
}

impl Table {
    pub(crate) fn start() -> Self {
        println!(
            "{:<40} {:>9} {:>10} {:>10} {:>10} {:>9} {:>9}",
            "what", "tasks", "tasks/s", "wall us", "CPU us", "x wall", "x CPU"
        );
        Self { floor: None }
    }

    pub(crate) fn floor(&mut self, floor: &Measure) {
        self.floor = Some(*floor);
        self.row("floor: bare wasmtime, fresh instance", floor);
    }

    pub(crate) fn row(&self, what: &str, measure: &Measure) {
        let floor = self.floor.as_ref().unwrap_or(measure);
        println!(
            "{what:<40} {:>9} {:>10.0} {:>10.1} {:>10.1} {:>9.2} {:>9.2}",
            measure.tasks,
            measure.tasks as f64 / measure.wall.as_secs_f64(),
            measure.wall_micros(),
            measure.cpu_micros(),
            measure.wall_micros() / floor.wall_micros(),
            measure.cpu_micros() / floor.cpu_micros(),
        );
    }
}
