//! Progress of a build.

/// Receiver of a build's progress. A `Fn(&str)` receives the steps.
pub trait Progress {
    /// A step has begun: one line worth keeping.
    fn step(&self, text: &str);

    /// A sign of life within the step, worth showing only until the next one: a line of cargo's or apt's output.
    fn detail(&self, text: &str) {
        let _ = text;
    }
}

impl<F: Fn(&str)> Progress for F {
    fn step(&self, text: &str) {
        self(text);
    }
}
