//! A client that has a run done over HTTP, whichever host is there, and who follows it.

use std::{
    net::SocketAddr,
    sync::Arc,
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{
    http::{Answer, Request, Stream},
    random::Random,
    workload::ANSWER,
};

/// After which a run is not taken to end, nor a host to come back.
const LONGEST: Duration = Duration::from_secs(240);
const PAUSE: Duration = Duration::from_millis(30);

/// A request, and its target.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) hosts: Arc<Vec<SocketAddr>>,
    pub(crate) name: &'static str,
    pub(crate) document: String,
    pub(crate) key: String,
    pub(crate) cancels: bool,
    pub(crate) random: Random,
    until: Instant,
}

/// Response to the client.
pub(crate) struct ClientRun {
    pub(crate) name: &'static str,
    pub(crate) run: String,
    /// Whether it was asked to end, and what is known of that.
    pub(crate) cancelled: Cancellation,
    pub(crate) phase: String,
    /// Events that its follower received.
    pub(crate) events: Vec<Value>,
    pub(crate) cuts: u32,
    pub(crate) left: u32,
}

/// Whether a run was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cancellation {
    No,
    /// The request was acknowledged.
    Yes,
    /// The response was lost.
    Perhaps,
}

impl Client {
    pub(crate) fn new(
        hosts: &Arc<Vec<SocketAddr>>,
        (name, document): (&'static str, String),
        number: u32,
        mut random: Random,
    ) -> Self {
        let cancels = name == "chains" && random.chance(30);
        let (hosts, key) = (Arc::clone(hosts), format!("{name}-{number}"));
        Self { hosts, name, document, key, cancels, random, until: Instant::now() + LONGEST }
    }

    pub(crate) fn start(mut self) -> JoinHandle<Result<ClientRun, String>> {
        thread::spawn(move || {
            let key = self.key.clone();
            self.all().map_err(|why| format!("{key}: {why}"))
        })
    }

    fn all(&mut self) -> Result<ClientRun, String> {
        let (run, mut left) = self.submit()?;
        let follower = self.clone().follow(run.clone());
        let cancelled = if self.cancels { self.cancel(&run, &mut left)? } else { Cancellation::No };
        let phase = self.end(&run, &mut left)?;
        let (events, cuts) = follower.join().map_err(|_panic| "a follower fell".to_owned())??;
        Ok(ClientRun { name: self.name, run, cancelled, phase, events, cuts, left })
    }

    /// The run of its key, however often it has to be submitted.
    fn submit(&mut self) -> Result<(String, u32), String> {
        let headers = [("content-type", "application/yaml"), ("idempotency-key", &*self.key)];
        let request = Request::new("POST", "/v1/runs", &headers, &self.document);
        let (mut left, mut found) = (0, None::<String>);
        loop {
            let answer = self.insist(&request, 202, &[], &mut left)?;
            let run = answer.body.get("runID").and_then(Value::as_str).unwrap_or_default().to_owned();
            if found.as_ref().is_some_and(|found| *found != run) {
                return Err(format!("its key has two runs: {found:?} and {run}"));
            }
            if found.is_some() && answer.body.get("isNew") != Some(&Value::Bool(false)) {
                return Err(format!("{run} is said to be new again"));
            }
            if found.replace(run.clone()).is_some() || self.random.chance(70) {
                return Ok((run, left));
            }
        }
    }

    fn cancel(&mut self, run: &str, left: &mut u32) -> Result<Cancellation, String> {
        thread::sleep(Duration::from_millis(self.random.below(900)));
        let before = *left;
        let request = Request::new("POST", &format!("/v1/runs/{run}/cancel"), &[], "");
        let mut unheard = 0;
        let answer = self.insist_counting(&request, 200, &[409], (left, &mut unheard))?;
        Ok(match answer.status {
            200 => Cancellation::Yes,
            // The run has ended, by an earlier request or by itself.
            _ if *left > before || unheard > 0 => Cancellation::Perhaps,
            _ => Cancellation::No,
        })
    }

    /// Returns its phase once it has ended, and answers suspended tasks meanwhile.
    fn end(&mut self, run: &str, left: &mut u32) -> Result<String, String> {
        let answer = Request::new(
            "POST",
            &format!("/v1/runs/{run}/tasks/ask/resume"),
            &[("content-type", "application/json")],
            ANSWER,
        );
        loop {
            let view = self.insist(&Request::get(&format!("/v1/runs/{run}?wait=1s")), 200, &[], left)?.body;
            let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
            if text(&view, "finishedAt").is_some() {
                return Ok(text(&view, "phase").unwrap_or_default());
            }
            let tasks = view.get("tasks").and_then(Value::as_array).cloned().unwrap_or_default();
            if tasks.iter().any(|task| text(task, "phase").as_deref() == Some("Suspended")) {
                // Too late if an answer of which nothing was heard did it.
                self.insist(&answer, 200, &[409], left)?;
            }
        }
    }

    /// Asks until it is answered so, or so; anybody may be away meanwhile.
    fn insist(
        &mut self,
        request: &Request,
        wanted: u16,
        others: &[u16],
        left: &mut u32,
    ) -> Result<Answer, String> {
        self.insist_counting(request, wanted, others, (left, &mut 0))
    }

    fn insist_counting(
        &mut self,
        request: &Request,
        wanted: u16,
        others: &[u16],
        (left, unheard): (&mut u32, &mut u32),
    ) -> Result<Answer, String> {
        loop {
            let host = *self.random.pick(&self.hosts.clone());
            if self.random.chance(20) {
                let (part, after) = (self.random.below(101), Duration::from_millis(self.random.below(40)));
                request.leave(host, part, after);
                *left += 1;
            }
            match request.ask(host) {
                Some(answer) if answer.status == wanted || others.contains(&answer.status) => {
                    return Ok(answer);
                }
                // A server that is stopping, or has no store for now, says so.
                Some(answer) if answer.status == 503 => *unheard += 1,
                Some(answer) => return Err(format!("{answer:?}")),
                None => *unheard += 1,
            }
            if Instant::now() > self.until {
                return Err(format!("no response with {wanted} within {LONGEST:?}"));
            }
            thread::sleep(PAUSE);
        }
    }

    /// Follows a run to its end: each event once and in order, and how often it was cut.
    fn follow(mut self, run: String) -> JoinHandle<Result<(Vec<Value>, u32), String>> {
        thread::spawn(move || {
            let (mut events, mut cuts) = (Vec::new(), 0);
            while Instant::now() < self.until {
                let host = *self.random.pick(&self.hosts.clone());
                let last = u64::try_from(events.len()).unwrap_or_default().checked_sub(1);
                match Stream::open(host, &run, last) {
                    Some(stream) if stream.status == 204 => return Ok((events, cuts)),
                    Some(stream) if stream.status == 200 => {
                        if self.hear(stream, &mut events)? {
                            return Ok((events, cuts));
                        }
                        cuts += 1;
                    }
                    Some(stream) if stream.status != 503 => {
                        return Err(format!("a stream of {run}: {}", stream.status));
                    }
                    Some(_) | None => thread::sleep(PAUSE),
                }
            }
            Err(format!("the events of {run} do not end within {LONGEST:?}: {} of them", events.len()))
        })
    }

    /// Hears some events; true at their end.
    fn hear(&mut self, mut stream: Stream, events: &mut Vec<Value>) -> Result<bool, String> {
        for _ in 0..1 + self.random.below(25) {
            let Some(told) = stream.next() else { return Ok(false) };
            match (told.id, told.name.as_str()) {
                (Some(id), _) if id == events.len() as u64 => events.push(told.data),
                (None, "end") => return Ok(true),
                (None, "end-of-stream") => return Ok(false),
                _ => return Err(format!("event {} was to come, and this did: {told:?}", events.len())),
            }
        }
        Ok(false)
    }
}
