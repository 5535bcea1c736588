//! The clocks around a call.

use std::fmt;

use crate::{document::RunTimeout, time::Millis};

/// A clock that ends what stands in it.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    name: String,
    pub(super) length: Millis,
    /// Whether nothing is written that says so.
    is_default: bool,
    /// Whether time in which people are waited for does not count.
    pauses: bool,
}

impl Clock {
    pub(super) fn written(name: &str, length: Millis) -> Self {
        Self { name: name.to_owned(), length, is_default: false, pauses: false }
    }

    pub(super) fn of_run(length: Millis, timeout: &RunTimeout) -> Self {
        let RunTimeout { is_default, pauses, .. } = *timeout;
        Self { is_default, pauses, ..Self::written("spec.timeout", length) }
    }

    pub(super) fn of_hook(length: Millis) -> Self {
        Self { is_default: true, ..Self::written("timeout", length) }
    }

    /// Says how to give it more time.
    pub(super) fn hint(&self) -> String {
        if self.is_default {
            format!("write a longer `{}`, or make the wait shorter", self.name)
        } else {
            "give the outer clock more time, or make the wait shorter".to_owned()
        }
    }
}

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}`{}`", if self.is_default { "the default " } else { "" }, self.name)
    }
}

/// The clocks around a call, as far as they matter: the shortest ones.
#[derive(Clone, Debug, Default)]
pub(super) struct Around {
    tightest: Option<Clock>,
    /// The shortest that is written and counts time in which people are waited for.
    written: Option<Clock>,
}

impl Around {
    pub(super) fn of(clock: Option<Clock>) -> Self {
        let mut around = Self::default();
        clock.into_iter().for_each(|clock| around.add(clock));
        around
    }

    pub(super) fn add(&mut self, clock: Clock) {
        if !clock.is_default
            && !clock.pauses
            && self.written.as_ref().is_none_or(|known| clock.length < known.length)
        {
            self.written = Some(clock.clone());
        }
        if self.tightest.as_ref().is_none_or(|known| clock.length < known.length) {
            self.tightest = Some(clock);
        }
    }

    /// Whether no clock of `other` is shorter.
    pub(super) fn is_within(&self, other: &Self) -> bool {
        let length = |clock: &Option<Clock>| clock.as_ref().map_or(Millis::MAX, |clock| clock.length);
        length(&self.tightest) <= length(&other.tightest) && length(&self.written) <= length(&other.written)
    }

    pub(super) fn tightest(&self) -> Option<&Clock> {
        self.tightest.as_ref()
    }

    pub(super) fn written(&self) -> Option<&Clock> {
        self.written.as_ref()
    }
}
