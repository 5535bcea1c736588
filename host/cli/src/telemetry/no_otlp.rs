//! No collector: this build has no exporter of spans.

use std::convert::Infallible;

use phasm::{config::TelemetrySettings, sandbox::HttpConfig, spans::Span};

/// A collector that cannot be had.
pub(super) struct Collector(Infallible);

/// Error of a request to a collector.
pub(super) struct ExportError {
    pub(super) why: String,
    pub(super) is_passing: bool,
}

/// Error that says how to get an exporter.
#[derive(Debug, thiserror::Error)]
#[error("this phasm was built without the feature `otlp`")]
pub(super) struct NoExporter;

impl Collector {
    /// # Errors
    /// Always.
    pub(super) fn new(_: &TelemetrySettings, _: &HttpConfig) -> Result<Self, NoExporter> {
        Err(NoExporter)
    }

    pub(super) fn url(&self) -> &str {
        match self.0 {}
    }

    #[expect(clippy::unused_async, reason = "as the exporter has it")]
    pub(super) async fn send(&self, _: &[Span]) -> Result<(), ExportError> {
        match self.0 {}
    }
}
