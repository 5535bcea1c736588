//! Series as they are written: each with its name, its kind, its unit and a word about it, whether it has samples or not.

use std::{borrow::Cow, fmt};

use phasm::metrics::Histogram;
use prometheus_client::{
    encoding::{
        DescriptorEncoder, EncodeCounterValue, EncodeGaugeValue, EncodeMetric as _, MetricEncoder, NoLabelSet,
    },
    metrics::{MetricType, exemplar::Exemplar, info::Info},
    registry::Unit,
};

/// Names and values of a sample.
pub(super) type Labels<'l> = Vec<(&'static str, Cow<'l, str>)>;

/// Encoder of the metrics.
pub(super) struct MetricWriter<'e>(DescriptorEncoder<'e>);

/// Units of a time per second: times are in microseconds.
const MICROSECONDS_PER_SECOND: f64 = 1e6;

impl<'e> MetricWriter<'e> {
    pub(super) fn new(encoder: DescriptorEncoder<'e>) -> Self {
        Self(encoder)
    }

    /// One that says what something is.
    pub(super) fn info(&mut self, name: &str, help: &str, labels: &[(&str, &str)]) -> fmt::Result {
        let info = Info::new(
            labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect::<Vec<_>>(),
        );
        info.encode(self.0.encode_descriptor(name, help, None, MetricType::Info)?)
    }

    /// A number that only grows.
    pub(super) fn counter(&mut self, name: &str, help: &str, value: u64) -> fmt::Result {
        self.counters(name, help, [(Vec::new(), value)])
    }

    /// Several of them, or none.
    pub(super) fn counters<'l>(
        &mut self,
        name: &str,
        help: &str,
        samples: impl IntoIterator<Item = (Labels<'l>, u64)>,
    ) -> fmt::Result {
        self.counters_in(name, help, None, samples)
    }

    pub(super) fn counters_in<'l, V: EncodeCounterValue>(
        &mut self,
        name: &str,
        help: &str,
        unit: Option<&Unit>,
        samples: impl IntoIterator<Item = (Labels<'l>, V)>,
    ) -> fmt::Result {
        let mut metric = self.0.encode_descriptor(name, help, unit, MetricType::Counter)?;
        for (labels, value) in samples {
            of(&mut metric, &labels, |metric| {
                metric.encode_counter(&value, None::<&Exemplar<NoLabelSet, f64>>)
            })?;
        }
        Ok(())
    }

    /// How much of something there is.
    pub(super) fn gauge(&mut self, name: &str, help: &str, value: impl EncodeGaugeValue) -> fmt::Result {
        self.gauges(name, help, [(Vec::new(), value)])
    }

    /// Several of them, or none.
    pub(super) fn gauges<'l, V: EncodeGaugeValue>(
        &mut self,
        name: &str,
        help: &str,
        samples: impl IntoIterator<Item = (Labels<'l>, V)>,
    ) -> fmt::Result {
        self.gauges_in(name, help, None, samples)
    }

    /// Bytes of something, where that is known.
    pub(super) fn bytes<'l>(
        &mut self,
        name: &str,
        help: &str,
        samples: impl IntoIterator<Item = (Labels<'l>, u64)>,
    ) -> fmt::Result {
        self.gauges_in(name, help, Some(&Unit::Bytes), samples)
    }

    pub(super) fn gauges_in<'l, V: EncodeGaugeValue>(
        &mut self,
        name: &str,
        help: &str,
        unit: Option<&Unit>,
        samples: impl IntoIterator<Item = (Labels<'l>, V)>,
    ) -> fmt::Result {
        let mut metric = self.0.encode_descriptor(name, help, unit, MetricType::Gauge)?;
        for (labels, value) in samples {
            of(&mut metric, &labels, |metric| metric.encode_gauge(&value))?;
        }
        Ok(())
    }

    /// Times, in seconds.
    pub(super) fn times(&mut self, name: &str, help: &str, found: Option<&Histogram>) -> fmt::Result {
        self.histograms(name, help, Some(&Unit::Seconds), found.map(|found| (Vec::new(), found)))
    }

    /// Amounts that are no times.
    pub(super) fn amounts(
        &mut self,
        name: &str,
        help: &str,
        unit: Option<&Unit>,
        found: Option<&Histogram>,
    ) -> fmt::Result {
        self.histograms(name, help, unit, found.map(|found| (Vec::new(), found)))
    }

    pub(super) fn histograms<'l, 'h>(
        &mut self,
        name: &str,
        help: &str,
        unit: Option<&Unit>,
        samples: impl IntoIterator<Item = (Labels<'l>, &'h Histogram)>,
    ) -> fmt::Result {
        let scale = if matches!(unit, Some(Unit::Seconds)) { MICROSECONDS_PER_SECOND } else { 1.0 };
        let mut metric = self.0.encode_descriptor(name, help, unit, MetricType::Histogram)?;
        for (labels, found) in samples {
            let bounds = found.bounds.iter().map(|bound| float(*bound) / scale).chain([f64::INFINITY]);
            let buckets: Vec<_> = bounds.zip(found.counts.iter().copied()).collect();
            of(&mut metric, &labels, |metric| {
                metric.encode_histogram::<NoLabelSet>(float(found.sum) / scale, found.count(), &buckets, None)
            })?;
        }
        Ok(())
    }
}

/// Writes one sample, under its labels if it has some.
fn of(
    metric: &mut MetricEncoder<'_>,
    labels: &Labels<'_>,
    write: impl FnOnce(&mut MetricEncoder<'_>) -> fmt::Result,
) -> fmt::Result {
    if labels.is_empty() { write(metric) } else { write(&mut metric.encode_family(labels)?) }
}

/// Converts a count to a float, which Prometheus uses.
#[expect(clippy::cast_precision_loss, reason = "beyond 2^53 one more or less is nothing")]
pub(super) fn float(number: u64) -> f64 {
    number as f64
}
