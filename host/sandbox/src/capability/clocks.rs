//! Clocks: every guest has the monotonic clock; the wall clock needs a grant.

use std::time::{Duration, Instant, SystemTime};

use tokio::time::Instant as Alarm;
use wasmtime::component::{HasData, Linker, Resource, ResourceTable};
use wasmtime_wasi::p2::{
    DynPollable, Pollable,
    bindings::clocks::{
        monotonic_clock,
        wall_clock::{self, Datetime},
    },
    subscribe,
};

/// Source of a guest's wall clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum WallClock {
    /// Always the same time, given since the beginning of 1970. By default that beginning itself: it tells a guest nothing, and
    /// works.
    Standing(Duration),
    /// Time of the host's clock.
    Real,
}

impl Default for WallClock {
    fn default() -> Self {
        Self::Standing(Duration::ZERO)
    }
}

/// Clocks of one call.
pub(crate) struct Clocks {
    wall: WallClock,
    /// Origin of the monotonic clock. It tells a guest nothing about the host's clock.
    began: Instant,
}

impl Clocks {
    pub(crate) fn new(wall: WallClock) -> Self {
        Self { wall, began: Instant::now() }
    }

    /// Returns the time since the beginning of 1970, as the guest sees it.
    pub(super) fn wall(&self) -> Duration {
        match self.wall {
            WallClock::Standing(at) => at,
            // A host's clock may show a time before 1970; a guest's cannot.
            WallClock::Real => SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default(),
        }
    }

    fn passed(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

/// View of the clocks in a store.
pub(crate) struct ClocksView<'a> {
    pub(crate) clocks: &'a mut Clocks,
    pub(crate) table: &'a mut ResourceTable,
}

/// State of a store that has clocks.
pub(crate) trait HasClocks: Send + 'static {
    fn clocks(&mut self) -> ClocksView<'_>;
}

struct ClocksData;

impl HasData for ClocksData {
    type Data<'a> = ClocksView<'a>;
}

pub(super) fn link<T: HasClocks>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    wall_clock::add_to_linker::<T, ClocksData>(linker, T::clocks)?;
    monotonic_clock::add_to_linker::<T, ClocksData>(linker, T::clocks)
}

impl wall_clock::Host for ClocksView<'_> {
    fn now(&mut self) -> wasmtime::Result<Datetime> {
        let now = self.clocks.wall();
        Ok(Datetime { seconds: now.as_secs(), nanoseconds: now.subsec_nanos() })
    }

    fn resolution(&mut self) -> wasmtime::Result<Datetime> {
        Ok(Datetime { seconds: 0, nanoseconds: 1 })
    }
}

impl monotonic_clock::Host for ClocksView<'_> {
    fn now(&mut self) -> wasmtime::Result<monotonic_clock::Instant> {
        Ok(self.clocks.passed())
    }

    fn resolution(&mut self) -> wasmtime::Result<monotonic_clock::Duration> {
        Ok(1)
    }

    fn subscribe_instant(
        &mut self,
        when: monotonic_clock::Instant,
    ) -> wasmtime::Result<Resource<DynPollable>> {
        let left = when.saturating_sub(self.clocks.passed());
        self.subscribe_duration(left)
    }

    fn subscribe_duration(
        &mut self,
        duration: monotonic_clock::Duration,
    ) -> wasmtime::Result<Resource<DynPollable>> {
        let timer = self.table.push(Timer::after(duration))?;
        subscribe(self.table, timer)
    }
}

/// Timer that fires once and stays ready.
enum Timer {
    /// Due at once. The first poll yields, so that a guest that polls in a loop starves no other.
    Due {
        yielded: bool,
    },
    At(Alarm),
    Never,
}

impl Timer {
    fn after(nanoseconds: u64) -> Self {
        if nanoseconds == 0 {
            return Self::Due { yielded: false };
        }
        Alarm::now().checked_add(Duration::from_nanos(nanoseconds)).map_or(Self::Never, Self::At)
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Timer {
    async fn ready(&mut self) {
        match self {
            Self::Due { yielded: true } => {}
            Self::Due { yielded } => {
                *yielded = true;
                tokio::task::yield_now().await;
            }
            Self::At(alarm) => tokio::time::sleep_until(*alarm).await,
            Self::Never => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wall_clock_stands_unless_it_is_granted() {
        assert_eq!(Clocks::new(WallClock::default()).wall(), Duration::ZERO);
        let at = Duration::from_secs(7);
        assert_eq!(Clocks::new(WallClock::Standing(at)).wall(), at);
        let before = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        assert!(Clocks::new(WallClock::Real).wall() >= before);
    }
}
