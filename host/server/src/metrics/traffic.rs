//! Requests: by the route that answers them, never by what was asked for, which anybody may make up.

use std::{
    collections::BTreeMap,
    fmt,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use axum::http::{Method, StatusCode};
use phasm::metrics::{Buckets, Histogram, TIMES};
use prometheus_client::registry::Unit;

use super::writer::MetricWriter;

/// Label of requests without a route.
const NO_ROUTE: &str = "none";

const METHODS: [&str; 6] = ["GET", "HEAD", "POST", "PUT", "DELETE", "other"];
const CLASSES: [&str; 6] = ["1xx", "2xx", "3xx", "4xx", "5xx", "other"];
/// Refusals that are told apart: who is kept out, and of whom it is too much.
const REFUSALS: [(StatusCode, &str); 7] = [
    (StatusCode::UNAUTHORIZED, "401"),
    (StatusCode::FORBIDDEN, "403"),
    (StatusCode::REQUEST_TIMEOUT, "408"),
    (StatusCode::PAYLOAD_TOO_LARGE, "413"),
    (StatusCode::MISDIRECTED_REQUEST, "421"),
    (StatusCode::TOO_MANY_REQUESTS, "429"),
    (StatusCode::SERVICE_UNAVAILABLE, "503"),
];

/// The route that has answered; left with the answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RouteLabel(pub(crate) &'static str);

struct RouteCounters {
    answers: [[AtomicU64; CLASSES.len()]; METHODS.len()],
    took: Buckets<{ TIMES.len() }>,
}

impl RouteCounters {
    fn new() -> Self {
        let answers = [const { [const { AtomicU64::new(0) }; CLASSES.len()] }; METHODS.len()];
        Self { answers, took: Buckets::new(&TIMES) }
    }
}

/// All requests.
pub(crate) struct Traffic {
    routes: BTreeMap<&'static str, RouteCounters>,
    refused: [AtomicU64; REFUSALS.len()],
}

impl Traffic {
    pub(super) fn new(paths: impl IntoIterator<Item = &'static str>) -> Self {
        let paths = paths.into_iter().chain([NO_ROUTE]);
        let refused = [const { AtomicU64::new(0) }; REFUSALS.len()];
        Self { routes: paths.map(|path| (path, RouteCounters::new())).collect(), refused }
    }

    /// A request was answered, or refused before a route was found for it.
    pub(crate) fn record(
        &self,
        route: Option<RouteLabel>,
        method: &Method,
        status: StatusCode,
        took: Duration,
    ) {
        let known = self.routes.get(route.map_or(NO_ROUTE, |RouteLabel(path)| path));
        let (method, class) = (place(&METHODS, method.as_str()), class(status));
        if let Some(of) = known {
            let count = of.answers.get(method).and_then(|classes| classes.get(class));
            if let Some(count) = count {
                count.fetch_add(1, Relaxed);
            }
            of.took.add(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
        }
        let refused = REFUSALS.iter().zip(&self.refused).find(|((of, _), _)| *of == status);
        if let Some((_, count)) = refused {
            count.fetch_add(1, Relaxed);
        }
    }

    pub(super) fn now(&self) -> TrafficSnapshot {
        let mut told = TrafficSnapshot::default();
        for (route, of) in &self.routes {
            let took = of.took.get();
            if took.count() > 0 {
                told.took.push((*route, took));
            }
            for (method, classes) in METHODS.iter().zip(&of.answers) {
                let counts = CLASSES.iter().zip(classes).map(|(class, count)| (*class, count.load(Relaxed)));
                let counted = counts.filter(|(_, count)| *count > 0);
                told.answers.extend(counted.map(|(class, count)| ([*method, *route, class], count)));
            }
        }
        let refused = REFUSALS.iter().zip(&self.refused);
        told.refused = refused.map(|((_, status), count)| (*status, count.load(Relaxed))).collect();
        told
    }
}

/// Where a word stands; the last stands for all others.
fn place(words: &[&str], word: &str) -> usize {
    words.iter().position(|known| *known == word).unwrap_or(words.len() - 1)
}

fn class(status: StatusCode) -> usize {
    usize::from(status.as_u16() / 100).saturating_sub(1).min(CLASSES.len() - 1)
}

/// Counters of requests at one time.
#[derive(Default)]
pub(super) struct TrafficSnapshot {
    answers: Vec<([&'static str; 3], u64)>,
    took: Vec<(&'static str, Histogram)>,
    refused: Vec<(&'static str, u64)>,
}

impl TrafficSnapshot {
    pub(super) fn tell(&self, sheet: &mut MetricWriter<'_>) -> fmt::Result {
        let requests = "Requests with a response, by method, route and class of status";
        let answers = self.answers.iter().map(|([method, route, status], count)| {
            let labels = [("method", *method), ("route", *route), ("status", *status)];
            (labels.map(|(name, value)| (name, value.into())).to_vec(), *count)
        });
        sheet.counters("phasm_http_requests", requests, answers)?;
        let took =
            "Time from the head of a request to the head of its response, by route, with waits for runs";
        let routes = self.took.iter().map(|(route, took)| (vec![("route", (*route).into())], took));
        sheet.histograms("phasm_http_request", took, Some(&Unit::Seconds), routes)?;
        let refused = self.refused.iter().map(|(status, count)| (vec![("status", (*status).into())], *count));
        sheet.counters("phasm_http_refusals", "Requests that were refused, by status", refused)
    }
}
