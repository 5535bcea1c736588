//! From errors, and from what an executor may return, to outcomes.

use std::{error::Error, fmt::Display};

use super::{Outcome, Result};

/// Code 3, with the error and what caused it.
impl<E: Error> From<E> for Outcome {
    fn from(error: E) -> Self {
        Self::error(with_causes(&error))
    }
}

/// The error's message and its causes', without those that the message already ends with.
fn with_causes(error: &dyn Error) -> String {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        if !message.ends_with(&text) {
            message = format!("{message}: {text}");
        }
        cause = error.source();
    }
    message
}

/// Return types of an executor.
pub trait IntoOutcome {
    /// The outcome.
    fn into_outcome(self) -> Outcome;
}

impl IntoOutcome for Outcome {
    fn into_outcome(self) -> Outcome {
        self
    }
}

impl IntoOutcome for () {
    fn into_outcome(self) -> Outcome {
        Outcome::succeeded()
    }
}

impl<T: IntoOutcome, E: Into<Outcome>> IntoOutcome for std::result::Result<T, E> {
    fn into_outcome(self) -> Outcome {
        self.map_or_else(Into::into, IntoOutcome::into_outcome)
    }
}

/// Leaves with an outcome of a chosen code where an error, or nothing, is in the way.
pub trait OrOutcome<T> {
    /// Code 2 with `what` before the cause.
    ///
    /// # Errors
    ///
    /// The outcome, when there is no value.
    fn or_failed(self, what: impl Display) -> Result<T>;

    /// Code 3 with `what` before the cause.
    ///
    /// # Errors
    ///
    /// The outcome, when there is no value.
    fn or_error(self, what: impl Display) -> Result<T>;
}

impl<T, E: Display> OrOutcome<T> for std::result::Result<T, E> {
    fn or_failed(self, what: impl Display) -> Result<T> {
        self.map_err(|why| Outcome::failed(format!("{what}: {why}")))
    }

    fn or_error(self, what: impl Display) -> Result<T> {
        self.map_err(|why| Outcome::error(format!("{what}: {why}")))
    }
}

impl<T> OrOutcome<T> for Option<T> {
    fn or_failed(self, what: impl Display) -> Result<T> {
        self.ok_or_else(|| Outcome::failed(what.to_string()))
    }

    fn or_error(self, what: impl Display) -> Result<T> {
        self.ok_or_else(|| Outcome::error(what.to_string()))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn an_error_becomes_code_3_with_its_causes() {
        #[derive(Debug)]
        struct Outer(std::num::ParseIntError);
        impl Display for Outer {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("no port")
            }
        }
        impl Error for Outer {
            fn source(&self) -> Option<&(dyn Error + 'static)> {
                Some(&self.0)
            }
        }
        fn executor() -> Result {
            Err(Outer("x".parse::<u16>().unwrap_err()))?
        }
        assert_eq!(executor().into_outcome(), Outcome::error("no port: invalid digit found in string"));
    }

    #[test]
    fn the_code_of_an_error_can_be_chosen() {
        let not_found: Result<(), &str> = Err("not found");
        assert_eq!(not_found.or_failed("cannot read a"), Err(Outcome::failed("cannot read a: not found")));
        assert_eq!(None::<()>.or_error("no key"), Err(Outcome::error("no key")));
    }
}
