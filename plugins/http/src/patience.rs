//! How long to wait for what.

use std::time::Duration;

use phasm_sdk::{
    duration::Millis,
    inputs,
    serde::{Deserialize, Deserializer, de::Error},
};

use crate::Task;

inputs! {
    /// How long to wait. Numbers are seconds, texts durations such as `1m 30s`.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Timeout {
        /// For the connection.
        connect: Option<Wait>,
        /// For the beginning of the answer, and between its parts.
        read: Option<Wait>,
    }
}

/// A length of time as seed 002 writes it, `15` and `2.5` being seconds, or as durations are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wait(Duration);

impl<'de> Deserialize<'de> for Wait {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = || D::Error::custom("expected seconds, or a duration such as `1m 30s`");
        let value = phasm_sdk::Value::deserialize(deserializer)?;
        let wait = match (value.as_f64(), value.as_str()) {
            (Some(seconds), _) => Duration::try_from_secs_f64(seconds).map_err(|_| expected())?,
            (None, Some(text)) => text.parse::<Millis>().map_err(|_| expected())?.into(),
            (None, None) => return Err(expected()),
        };
        if wait.is_zero() { Err(expected()) } else { Ok(Self(wait)) }
    }
}

/// Timeouts of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Patience {
    pub(crate) connect: Duration,
    pub(crate) read: Duration,
}

impl Patience {
    pub(crate) fn of(task: &Task) -> Self {
        let spec = task.spec.as_ref().and_then(|spec| spec.timeout.as_ref());
        let given = task.timeout.as_ref().or(spec).map(|timeout| timeout.0);
        let wait = |wait: Option<Wait>, usual| wait.map_or(Duration::from_secs(usual), |wait| wait.0);
        Self {
            connect: wait(given.and_then(|given| given.connect), 10),
            read: wait(given.and_then(|given| given.read), 60),
        }
    }
}
