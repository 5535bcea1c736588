//! The parent's side of relayed connections. The child is not trusted: its messages may be anything.

use std::{borrow::Cow, collections::HashMap, io, sync::Arc};

use bytes::Bytes;
use phasm_engine::usage::ResourceUsage;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    join,
    sync::mpsc::{Receiver, Sender, channel, error::TrySendError},
};
use wasmtime_wasi::runtime::{AbortOnDropJoinHandle, spawn};

use super::messages::{
    Id, MAX_NAME_BYTES, MAX_RECEIVED_BYTES, MAX_SENT_BYTES, StartResult, TcpEvent, TcpRequest,
};
use crate::{
    attempt_context::AttemptContext,
    call_result::CallResult,
    capability::{
        http::Net,
        sockets::{
            TcpGrant,
            caller::{AttemptConnections, Caller},
            connection::{Connection, Input, Output},
            dial,
            failure::Failure,
        },
    },
    transcript::Transcript,
};

/// Encoding of an event as a frame for the process.
pub(crate) type EncodeTcpEvent = fn(TcpEvent<'_>) -> io::Result<Vec<u8>>;

/// Connections of one call. Dropping this closes them.
pub(crate) struct TcpRelayServer {
    under_way: HashMap<Id, Active>,
    own: AttemptConnections,
    most: usize,
    outbox: Outbox,
}

/// A look-up or a connection, and the channels to its task.
struct Active {
    reads: Sender<()>,
    writes: Sender<Piece>,
    task: AbortOnDropJoinHandle<()>,
}

/// Data to send.
enum Piece {
    Data(Bytes),
    End,
}

/// Way to the process.
#[derive(Clone)]
struct Outbox {
    frames: Sender<Vec<u8>>,
    encode: EncodeTcpEvent,
}

impl Outbox {
    /// Waits until there is room, and sends `event`. An event for a process that has ended is dropped.
    async fn send(&self, event: TcpEvent<'_>) {
        if let Ok(frame) = (self.encode)(event) {
            let _ = self.frames.send(frame).await;
        }
    }
}

fn invalid_request() -> io::Error {
    io::Error::other("it asks for connections as no guest can")
}

/// Passes on what there is room for, as no guest asks twice at once.
fn pass_on<T>(to: &Sender<T>, what: T) -> io::Result<()> {
    match to.try_send(what) {
        Err(TrySendError::Full(_)) => Err(invalid_request()),
        Ok(()) | Err(TrySendError::Closed(_)) => Ok(()),
    }
}

impl TcpRelayServer {
    /// Makes the server of a call; events go to `frames` as `encode` writes them.
    pub(crate) fn new(
        net: &Arc<Net>,
        grant: &TcpGrant,
        attempt: &Arc<AttemptContext>,
        transcript: &Arc<Transcript>,
        frames: Sender<Vec<u8>>,
        encode: EncodeTcpEvent,
    ) -> Self {
        Self {
            under_way: HashMap::new(),
            own: AttemptConnections::new(Caller::new(net, grant, attempt, transcript)),
            most: attempt.limits.resources as usize,
            outbox: Outbox { frames, encode },
        }
    }

    /// Takes a message of the process.
    ///
    /// # Errors
    /// Fails when no guest could cause the message.
    pub(crate) fn receive(&mut self, message: TcpRequest<'_>) -> io::Result<()> {
        // A look-up or connection that is over is gone here, and a message may have crossed its end.
        match message {
            TcpRequest::LookUp(id, name) => {
                if name.len() > MAX_NAME_BYTES {
                    return Err(invalid_request());
                }
                let (caller, name) = (Arc::clone(self.own.caller()), name.into_owned());
                self.begin(id, move |outbox, _, _| async move {
                    let found = dial::look_up(&caller, &name).await;
                    outbox.send(TcpEvent::Started(id, found.map(StartResult::Found))).await;
                })
            }
            TcpRequest::Connect(id, address) => {
                let caller = Arc::clone(self.own.caller());
                self.begin(id, move |outbox, reads, writes| async move {
                    let connected = dial::connect(&caller, address).await;
                    serve(id, &outbox, connected, reads, writes).await;
                })
            }
            TcpRequest::Read(id) => {
                self.under_way.get(&id).map_or(Ok(()), |active| pass_on(&active.reads, ()))
            }
            TcpRequest::Write(id, data) => {
                if data.len() > MAX_SENT_BYTES {
                    return Err(invalid_request());
                }
                let data = Bytes::from(data.into_owned());
                self.under_way.get(&id).map_or(Ok(()), |active| pass_on(&active.writes, Piece::Data(data)))
            }
            TcpRequest::Shut(id) => {
                self.under_way.get(&id).map_or(Ok(()), |active| pass_on(&active.writes, Piece::End))
            }
            TcpRequest::Close(id) => {
                self.under_way.remove(&id);
                Ok(())
            }
        }
    }

    fn begin<F: Future<Output = ()> + Send + 'static>(
        &mut self,
        id: Id,
        work: impl FnOnce(Outbox, Receiver<()>, Receiver<Piece>) -> F,
    ) -> io::Result<()> {
        self.under_way.retain(|_, active| !active.task.is_finished());
        // A guest cannot have more of them either.
        if self.under_way.len() >= self.most || self.under_way.contains_key(&id) {
            return Err(invalid_request());
        }
        let ((reads, asked), (writes, pieces)) = (channel(1), channel(1));
        let task = spawn(work(self.outbox.clone(), asked, pieces));
        self.under_way.insert(id, Active { reads, writes, task });
        Ok(())
    }

    /// Closes the connections, and adds their refusals and usage to the result of the call.
    pub(crate) fn finish(mut self, ended: &mut CallResult) {
        self.under_way.clear();
        self.own.report_refusals(&mut ended.refusals);
        ended.metered = self.with(ended.metered);
    }

    /// Adds the bytes of relayed connections to the usage that the child reports.
    pub(crate) fn with(&self, metered: ResourceUsage) -> ResourceUsage {
        let (received, sent) = self.own.byte_counts();
        let bytes_in = metered.bytes_in.saturating_add(received);
        ResourceUsage { bytes_in, bytes_out: metered.bytes_out.saturating_add(sent), ..metered }
    }
}

/// Serves a connection until both directions have ended.
async fn serve(
    id: Id,
    outbox: &Outbox,
    connected: Result<Connection, Failure>,
    reads: Receiver<()>,
    writes: Receiver<Piece>,
) {
    match connected {
        Ok(Connection { input, output, local }) => {
            outbox.send(TcpEvent::Started(id, Ok(StartResult::Connected(local)))).await;
            join!(read(id, outbox, input, reads), write(id, outbox, output, writes));
        }
        Err(failure) => outbox.send(TcpEvent::Started(id, Err(failure))).await,
    }
}

/// Reads a piece whenever one is asked for.
async fn read(id: Id, outbox: &Outbox, mut input: Input, mut reads: Receiver<()>) {
    let mut bytes = vec![0; MAX_RECEIVED_BYTES];
    while reads.recv().await.is_some() {
        let read = input.read(&mut bytes).await;
        let count = *read.as_ref().unwrap_or(&0);
        let data = read.map(|_| Cow::Borrowed(bytes.get(..count).unwrap_or_default()));
        outbox.send(TcpEvent::Data(id, data.map_err(|error| Failure::from(&error)))).await;
        if count == 0 {
            return;
        }
    }
}

/// Writes each piece that comes.
async fn write(id: Id, outbox: &Outbox, mut output: Output, mut writes: Receiver<Piece>) {
    while let Some(piece) = writes.recv().await {
        let Piece::Data(data) = piece else {
            // The other side may have gone.
            let _ = output.shutdown().await;
            return;
        };
        let written = output.write_all(&data).await.map_err(|error| Failure::from(&error));
        let is_last = written.is_err();
        outbox.send(TcpEvent::Written(id, written)).await;
        if is_last {
            return;
        }
    }
}
