//! A connection to a server: its beginning, and messages in both directions.
#![expect(clippy::wildcard_enum_match_arm, reason = "a server may send any message at any time")]

use std::{
    io::{self, Read as _, Write as _},
    net::TcpStream,
    time::{Duration, Instant},
};

use bytes::BytesMut;
use fallible_iterator::FallibleIterator as _;
use phasm_sdk::prelude::*;
use postgres_protocol::{
    authentication::{
        md5_hash,
        sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256},
    },
    message::{
        backend::{Header, Message},
        frontend,
    },
};

use crate::{
    fault::{Fault, ServerError},
    target::Target,
};

/// Bytes that are read at once.
const READ_BYTES: usize = 16 << 10;
/// Largest message that is no row, in bytes.
const MAX_MESSAGE_BYTES: u64 = 1 << 20;
/// The first version of the server that can look after its client while it works.
const CHECKS_CONNECTIONS: u32 = 14;
/// Settings under which values are read: they make texts of values that do not depend on the server's configuration.
const SETTINGS: &str = "SET DateStyle = 'ISO, YMD'; SET TimeZone = 'UTC'; SET IntervalStyle = 'iso_8601'; SET bytea_output = 'hex'; \
                        SET extra_float_digits = 3";

/// A connection, on which one command is run.
pub(crate) struct Client {
    stream: TcpStream,
    incoming: BytesMut,
    pub(crate) outgoing: BytesMut,
    /// The server's major version, once it has said so.
    version: u32,
    /// Largest message with a row, in bytes.
    pub(crate) max_row_bytes: u64,
    /// Time after which the server ends a statement.
    timeout: Option<Duration>,
    /// When a statement began.
    began: Instant,
}

impl Client {
    /// Connects, proves who the user is, and makes the settings of the connection.
    pub(crate) fn connect(target: &Target, timeout: Option<Duration>) -> Result<Self, Fault> {
        let stream = TcpStream::connect((target.host.as_str(), target.port))?;
        // The host sends small pieces at once in any case.
        let _ = stream.set_nodelay(true);
        let mut client = Self {
            stream,
            incoming: BytesMut::new(),
            outgoing: BytesMut::new(),
            version: 0,
            max_row_bytes: MAX_MESSAGE_BYTES,
            timeout,
            began: Instant::now(),
        };
        let parameters = [
            ("user", target.user.as_str()),
            ("database", &target.database),
            ("client_encoding", "UTF8"),
            ("application_name", "phasm"),
        ];
        frontend::startup_message(parameters, &mut client.outgoing)?;
        client.authenticate(target)?;
        client.set_up()?;
        Ok(client)
    }

    fn authenticate(&mut self, target: &Target) -> Result<(), Fault> {
        let password = || {
            target.password.as_deref().ok_or_else(|| {
                Fault::Input(
                    "the server asks for a password; expected input `password`, or one in the URL".to_owned(),
                )
            })
        };
        match self.receive()? {
            Message::AuthenticationOk => return Ok(()),
            Message::AuthenticationMd5Password(body) => {
                let hash = md5_hash(target.user.as_bytes(), password()?.as_bytes(), body.salt());
                frontend::password_message(hash.as_bytes(), &mut self.outgoing)?;
            }
            Message::AuthenticationSasl(body) => {
                let mut mechanisms = body.mechanisms();
                let mut is_known = false;
                while let Some(mechanism) = mechanisms.next()? {
                    is_known |= mechanism == SCRAM_SHA_256;
                }
                if !is_known {
                    return Err(unknown_authentication());
                }
                self.scram(password()?)?;
            }
            Message::AuthenticationCleartextPassword => {
                return Err(Fault::Input(
                    "the server asks for the password in clear text, and the connection is not encrypted; let it ask by \
                     `scram-sha-256`"
                        .to_owned(),
                ));
            }
            _ => return Err(unknown_authentication()),
        }
        match self.receive()? {
            Message::AuthenticationOk => Ok(()),
            _ => Err(unexpected("the password")),
        }
    }

    fn scram(&mut self, password: &str) -> Result<(), Fault> {
        let mut scram = ScramSha256::new(password.as_bytes(), ChannelBinding::unsupported());
        frontend::sasl_initial_response(SCRAM_SHA_256, scram.message(), &mut self.outgoing)?;
        let Message::AuthenticationSaslContinue(body) = self.receive()? else {
            return Err(unexpected("SCRAM"));
        };
        scram.update(body.data()).map_err(not_genuine)?;
        frontend::sasl_response(scram.message(), &mut self.outgoing)?;
        let Message::AuthenticationSaslFinal(body) = self.receive()? else {
            return Err(unexpected("SCRAM"));
        };
        scram.finish(body.data()).map_err(not_genuine)
    }

    fn set_up(&mut self) -> Result<(), Fault> {
        self.until_ready()?;
        let timeout = self.timeout.map_or(0, |timeout| timeout.as_millis());
        let settings = match timeout {
            0 => SETTINGS.to_owned(),
            // The server keeps it in 31 bits.
            millis => format!("{SETTINGS}; SET statement_timeout = {}", millis.min(i32::MAX as u128)),
        };
        frontend::query(&settings, &mut self.outgoing)?;
        let looks_after = self.version >= CHECKS_CONNECTIONS;
        if looks_after {
            // A statement of an attempt that is cancelled ends. Not every system has it, so it is a query of its own.
            frontend::query("SET client_connection_check_interval = '1s'", &mut self.outgoing)?;
        }
        self.until_ready()?;
        if looks_after {
            match self.until_ready() {
                Err(Fault::Server(error)) => {
                    debug!("{}", error.line());
                    self.until_ready()?;
                }
                other => other?,
            }
        }
        Ok(())
    }

    /// Begins the time of a statement.
    pub(crate) fn begin(&mut self) {
        self.began = Instant::now();
    }

    /// Reads messages that need no response until the server is ready.
    fn until_ready(&mut self) -> Result<(), Fault> {
        while !matches!(self.receive()?, Message::ReadyForQuery(_)) {}
        Ok(())
    }

    /// Returns the error, once the server is ready for more.
    pub(crate) fn refused(&mut self, error: ServerError) -> Fault {
        frontend::sync(&mut self.outgoing);
        // A server that ends the connection after the error is as good as ready.
        let _ = self.until_ready();
        Fault::Server(Box::new(error))
    }

    /// Says goodbye. An open transaction is undone.
    pub(crate) fn close(&mut self) {
        self.outgoing.clear();
        frontend::terminate(&mut self.outgoing);
        let _ = self.send();
    }

    fn send(&mut self) -> io::Result<()> {
        let outgoing = self.outgoing.split();
        self.stream.write_all(&outgoing)
    }

    /// Sends all that is to be sent, and returns the next message; an error of the server is a fault.
    pub(crate) fn receive(&mut self) -> Result<Message, Fault> {
        if !self.outgoing.is_empty()
            && let Err(error) = self.send()
        {
            // The server may have said why before it went away.
            return match self.next() {
                Err(said @ Fault::Server(_)) => Err(said),
                _ => Err(error.into()),
            };
        }
        self.next()
    }

    fn next(&mut self) -> Result<Message, Fault> {
        loop {
            self.fill()?;
            match Message::parse(&mut self.incoming)? {
                None => {}
                Some(Message::ErrorResponse(body)) => {
                    let mut error = ServerError::read(body.fields())?;
                    error.met = self.timeout.filter(|timeout| self.began.elapsed() >= *timeout);
                    return Err(Fault::Server(Box::new(error)));
                }
                Some(Message::NoticeResponse(body)) => info!("{}", ServerError::read(body.fields())?.line()),
                Some(Message::ParameterStatus(body)) if body.name()? == "server_version" => {
                    let major = body.value()?.split(|c: char| !c.is_ascii_digit()).next();
                    self.version = major.and_then(|major| major.parse().ok()).unwrap_or_default();
                }
                Some(
                    Message::ParameterStatus(_)
                    | Message::BackendKeyData(_)
                    | Message::NotificationResponse(_),
                ) => {}
                Some(message) => return Ok(message),
            }
        }
    }

    /// Reads until a message is whole.
    fn fill(&mut self) -> Result<(), Fault> {
        loop {
            if let Some(header) = Header::parse(&self.incoming)? {
                // The length counts itself and not the tag.
                let size = u64::try_from(header.len()).unwrap_or_default();
                if size > self.max_row_bytes.max(MAX_MESSAGE_BYTES) {
                    return Err(Fault::TooLarge(format!(
                        "a row has {size} bytes; `maxBytes` sets the limit of all rows"
                    )));
                }
                if self.incoming.len() as u64 > size {
                    return Ok(());
                }
            }
            let mut bytes = [0; READ_BYTES];
            let read = self.stream.read(&mut bytes)?;
            if read == 0 {
                let gone = io::Error::new(io::ErrorKind::UnexpectedEof, "the server closed the connection");
                return Err(Fault::Connection(gone));
            }
            self.incoming.extend_from_slice(bytes.get(..read).unwrap_or_default());
        }
    }
}

fn unknown_authentication() -> Fault {
    Fault::Input("the server asks for a proof of the user that this executor cannot give; it knows `scram-sha-256` and `md5`".to_owned())
}

/// A server that does not know the password either, or a message of SCRAM that is none.
fn not_genuine(error: io::Error) -> Fault {
    Fault::Protocol(format!("SCRAM: {error}"))
}

pub(crate) fn unexpected(what: &str) -> Fault {
    Fault::Protocol(format!("an unexpected message after {what}"))
}
