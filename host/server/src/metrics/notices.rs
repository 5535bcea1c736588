//! Outcomes of notifications by endpoint. The configuration bounds their number.

use std::{borrow::Cow, fmt};

use phasm::notify::NoticeCounts;

use super::{
    Scrape,
    writer::{Labels, MetricWriter},
};

impl Scrape {
    pub(super) fn notices(&self, sheet: &mut MetricWriter<'_>) -> fmt::Result {
        let came = self.notices.iter().flat_map(|(endpoint, counts)| {
            let NoticeCounts { delivered, failed, given_up, .. } = *counts;
            [("delivered", delivered), ("failed", failed), ("given_up", given_up)]
                .map(|(result, count)| (of(endpoint, Some(result)), count))
        });
        let what = "Deliveries of notifications that this host has tried, by result, and notifications that it gave up";
        sheet.counters("phasm_notices", what, came)?;
        let under_way = self.notices.iter().map(|(endpoint, counts)| (of(endpoint, None), counts.under_way));
        sheet.gauges("phasm_notices_under_way", "Notifications that this host is posting", under_way)
    }
}

fn of<'l>(endpoint: &'l str, result: Option<&'static str>) -> Labels<'l> {
    let endpoint = ("endpoint", Cow::Borrowed(endpoint));
    [endpoint].into_iter().chain(result.map(|result| ("result", result.into()))).collect()
}
