//! One try: a message as Standard Webhooks have it, by the rules that requests of guests are held to.

use std::{sync::Arc, time::Duration};

use phasm_engine::time::{Millis, Timestamp};

use super::{Endpoint, retry};
use phasm_sandbox::fair_queue::{FairQueue, Holder, Place};
use phasm_sandbox::{HttpClient, HttpConfig, HttpLimits, HttpRequest};

/// From the look-up of its address to the head of its answer.
const POST_TIMEOUT: Duration = Duration::from_secs(20);
/// Bytes of the response's head.
const HEADERS: u64 = 32 << 10;
/// Posts at once, to all endpoints. An endpoint that responds late leaves places for the others.
const ALL_AT_ONCE: usize = 32;
/// Endpoints that wait for a place: each waits once.
const MAX_WAITING: usize = 4096;

/// Posts notices.
pub(crate) struct Poster {
    client: HttpClient,
    places: FairQueue,
}

/// An answer, whatever it says.
pub(crate) struct EndpointReply {
    pub(crate) status: u16,
    /// How long the endpoint wants to be left alone.
    pub(crate) wish: Option<Millis>,
}

/// There was no answer.
pub(crate) struct NoReply {
    /// For people, without the URL.
    pub(crate) why: String,
}

impl Poster {
    /// With the roots and addresses of that configuration.
    pub(crate) fn new(config: HttpConfig) -> Self {
        let limits = HttpLimits { time: POST_TIMEOUT, headers: HEADERS, ..HttpLimits::default() };
        let client = HttpClient::new(HttpConfig { limits, secrets: Vec::new(), ..config });
        Self { client, places: FairQueue::new(ALL_AT_ONCE, MAX_WAITING) }
    }

    /// A place among those that post at once.
    pub(crate) async fn place(&self, endpoint: &Arc<str>) -> Option<Place> {
        let holder = Holder { tenant: Arc::clone(endpoint), key: Arc::clone(endpoint), weight: 1 };
        self.places.enter(&holder).await.ok()
    }

    pub(crate) async fn post(
        &self,
        endpoint: &Endpoint,
        id: &str,
        payload: &str,
        now: Timestamp,
    ) -> Result<EndpointReply, NoReply> {
        let seconds = now.0.div_euclid(1000);
        let signatures: Vec<_> =
            endpoint.secrets.iter().map(|secret| secret.sign(id, seconds, payload)).collect();
        let request = HttpRequest {
            method: "POST",
            url: endpoint.url.to_string(),
            headers: vec![
                ("content-type", "application/json".to_owned()),
                ("content-length", payload.len().to_string()),
                ("webhook-id", id.to_owned()),
                ("webhook-timestamp", seconds.to_string()),
                ("webhook-signature", signatures.join(" ")),
            ],
            body: payload.as_bytes().to_vec(),
            most: 0,
            inside: endpoint.inside,
        };
        let head = self.client.head(request).await.map_err(|why| NoReply { why })?;
        let wish = head.header("retry-after").and_then(|header| retry::wish(header, now));
        Ok(EndpointReply { status: head.status, wish })
    }
}

/// The message for a status that is no success.
pub(crate) fn refusal(status: u16) -> String {
    match status {
        300..400 => format!("it responded {status}; redirects are not followed"),
        410 => "it responded 410: no more notifications of this run are sent to it".to_owned(),
        _ => format!("it responded {status}"),
    }
}
