//! Bounded resources: how much of each is held, and who waits for it or was refused.

use std::fmt;

use phasm::fair_queue::QueueUsage;

use super::writer::{Labels, MetricWriter};

/// Writes the series of each resource, by its word.
pub(super) fn tell(resources: &[(&'static str, QueueUsage)], sheet: &mut MetricWriter<'_>) -> fmt::Result {
    let series = |of: fn(&QueueUsage) -> u64| {
        let each = resources.iter();
        each.map(move |(word, usage)| -> (Labels<'static>, u64) {
            (vec![("resource", (*word).into())], of(usage))
        })
    };
    let places = "Places of a resource that keys share";
    sheet.gauges("phasm_resource_places", places, series(|usage| usage.places))?;
    sheet.gauges("phasm_resource_held", "Places that are held", series(|usage| usage.held))?;
    let waiting = "Requests that wait for a place";
    sheet.gauges("phasm_resource_waiting", waiting, series(|usage| usage.waiting))?;
    let waits = "Requests that had to wait for a place";
    sheet.counters("phasm_resource_waits", waits, series(|usage| usage.waited))?;
    let refusals = "Requests that were refused, as their key had its share";
    sheet.counters("phasm_resource_refusals", refusals, series(|usage| usage.refused))
}
