//! Spans of runs on their way to a collector, by OTLP over HTTP.
//!
//! ```text
//! host ── ended ──▶ a queue with an end ──▶ a thread of its own ── batches ──▶ collector
//!                   what finds it full is counted, and dropped
//! ```
//!
//! Whatever the collector does, no run waits for it.

#[cfg_attr(not(feature = "otlp"), path = "telemetry/no_otlp.rs")]
mod otlp;
mod queue;

use std::{env, sync::OnceLock, time::Duration};

use phasm::{
    config::TelemetrySettings,
    sandbox::{
        HttpConfig,
        trace::{TRACEPARENT, TRACESTATE, TraceContext, TraceId},
    },
    spans::{Span, Tracer},
};

use self::{otlp::Collector, queue::SpanQueue};
use crate::failure::{ContextError, Failure};

/// How long the end of the process waits for what is still to be sent.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(5);

/// The queue of this process, once it has one.
static SENDING: OnceLock<SpanQueue> = OnceLock::new();

/// Exports a share of all traces.
struct SampledTracer {
    /// Share of the traces that begin here, from 0 to 1.
    part: f64,
    sending: SpanQueue,
}

impl Tracer for SampledTracer {
    fn samples(&self, trace: TraceId) -> bool {
        let [.., a, b, c, d, e, f, g] = trace.0;
        // All samplers with the same ratio choose the same traces.
        let number = u64::from_be_bytes([0, a, b, c, d, e, f, g]);
        #[expect(clippy::cast_precision_loss, reason = "both are below 2^56, and a part is no exact number")]
        let (number, all) = (number as f64, (1_u64 << 56) as f64);
        number < self.part * all
    }

    fn ended(&self, span: Span) {
        self.sending.take(span);
    }
}

/// On whose behalf this process was started, as its environment says.
pub(super) fn caller() -> Option<TraceContext> {
    let variable = |name: &str| env::var(name.to_ascii_uppercase()).ok();
    TraceContext::read(&variable(TRACEPARENT)?, variable(TRACESTATE).as_deref())
}

/// Sets up the exporter of this process, if the configuration or else the environment names a collector.
///
/// # Errors
/// When a variable of the environment is not valid.
pub(super) fn tracer(
    settings: &TelemetrySettings,
    http: &HttpConfig,
) -> Result<Option<std::sync::Arc<dyn Tracer>>, Failure> {
    let variable = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let named = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];
    let is_off = variable("OTEL_SDK_DISABLED").is_some_and(|off| off.eq_ignore_ascii_case("true"))
        || variable("OTEL_TRACES_EXPORTER").is_some_and(|exporter| exporter == "none");
    if is_off || (settings.otlp.is_none() && !named.iter().any(|name| variable(name).is_some())) {
        return Ok(None);
    }
    let part = match settings.sampling {
        Some(part) => part,
        None => part_of_environment(variable)?,
    };
    let sending = match SENDING.get() {
        Some(sending) => sending.clone(),
        None => {
            let collector = Collector::new(settings, http);
            let collector = collector.map_err(|error| {
                Failure::call(ContextError::new("the OTLP exporter cannot be set up", error))
            })?;
            SENDING.get_or_init(|| SpanQueue::to(collector)).clone()
        }
    };
    Ok(Some(std::sync::Arc::new(SampledTracer { part, sending })))
}

/// Reads `OTEL_TRACES_SAMPLER`. The decision of a parent span is always kept, also where the name leaves out `parentbased_`.
fn part_of_environment(variable: impl Fn(&str) -> Option<String>) -> Result<f64, Failure> {
    let Some(sampler) = variable("OTEL_TRACES_SAMPLER") else { return Ok(1.0) };
    match sampler.strip_prefix("parentbased_").unwrap_or(&sampler) {
        "always_on" => Ok(1.0),
        "always_off" => Ok(0.0),
        "traceidratio" => {
            let part = variable("OTEL_TRACES_SAMPLER_ARG").map_or(Ok(1.0), |part| part.parse());
            part.ok().filter(|part| (0.0..=1.0).contains(part)).ok_or_else(|| {
                Failure::call("OTEL_TRACES_SAMPLER_ARG: expected a number from 0 to 1".to_owned())
            })
        }
        _ => Err(Failure::call(format!(
            "OTEL_TRACES_SAMPLER={sampler}: expected always_on, always_off, traceidratio, or one of these with parentbased_ before it"
        ))),
    }
}

/// Sends what is still there, within bounds.
pub(super) fn end() {
    if let Some(sending) = SENDING.get() {
        sending.end(FLUSH_TIMEOUT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(sampler: &str, argument: Option<&str>) -> Option<f64> {
        let variable = |name: &str| match name {
            "OTEL_TRACES_SAMPLER" => Some(sampler.to_owned()),
            _ => argument.map(ToOwned::to_owned),
        };
        part_of_environment(variable).ok()
    }

    /// R-O5.
    #[test]
    fn samplers_of_the_environment_are_parts() {
        for (sampler, argument, expected) in [
            ("always_on", None, Some(1.0)),
            ("parentbased_always_on", None, Some(1.0)),
            ("always_off", None, Some(0.0)),
            ("parentbased_traceidratio", Some("0.25"), Some(0.25)),
            ("traceidratio", None, Some(1.0)),
            ("traceidratio", Some("2"), None),
            ("traceidratio", Some("half"), None),
            ("jaeger_remote", None, None),
        ] {
            assert_eq!(part(sampler, argument), expected, "{sampler} {argument:?}");
        }
    }
}
