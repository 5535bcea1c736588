//! A connection that comes back.

use std::{collections::HashMap, sync::Arc, time::Duration};

use tokio::{
    task::AbortHandle,
    time::{Instant, sleep_until, timeout},
};
use tokio_postgres::{Client, Row, Statement, types::ToSql};

use super::{
    super::StoreError, address::Address, connection, fault::PostgresError, format, functions::numbered,
};

/// Between two tries to connect at first, and at most.
pub(super) const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(2));

/// A connection and the statements that it knows.
pub(super) struct Session {
    pub(super) client: Client,
    statements: HashMap<&'static str, Statement>,
    /// Reads and writes the socket.
    connection: AbortHandle,
}

impl Session {
    /// Sends the statement when it is polled first, so that several are one round trip.
    pub(super) async fn query(
        &self,
        sql: &'static str,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, tokio_postgres::Error> {
        match self.statements.get(sql) {
            Some(statement) => self.client.query(statement, parameters).await,
            None => self.client.query(&*numbered(sql), parameters).await,
        }
    }
}

/// To one server; connected when it is used.
pub(super) struct ReconnectingClient {
    address: Arc<Address>,
    statements: &'static [&'static str],
    current: Option<Arc<Session>>,
    pause: Duration,
    not_before: Instant,
}

impl ReconnectingClient {
    pub(super) fn new(address: &Arc<Address>, statements: &'static [&'static str]) -> Self {
        let (address, pause) = (Arc::clone(address), PAUSES.0);
        Self { address, statements, current: None, pause, not_before: Instant::now() }
    }

    pub(super) fn address(&self) -> &Arc<Address> {
        &self.address
    }

    /// The connection. One that was lost is made anew, after a pause if that failed before.
    ///
    /// # Errors
    /// When the server is not to be had: nothing was sent.
    pub(super) async fn connected(&mut self) -> Result<Arc<Session>, StoreError> {
        if let Some(current) = self.current.as_ref().filter(|current| !current.client.is_closed()) {
            return Ok(Arc::clone(current));
        }
        sleep_until(self.not_before).await;
        let patience = self.address.patience(0);
        let connected = timeout(patience, self.connect()).await.unwrap_or(Err(PostgresError::Mute(patience)));
        match connected {
            Ok(connected) => {
                self.pause = PAUSES.0;
                Ok(Arc::clone(self.current.insert(Arc::new(connected))))
            }
            Err(fault) => {
                self.not_before = Instant::now() + self.pause;
                self.pause = PAUSES.1.min(self.pause * 2);
                Err(fault.at(&self.address, "opened"))
            }
        }
    }

    async fn connect(&self) -> Result<Session, PostgresError> {
        let (client, connection) = connection::connect(&self.address).await?;
        // A connection that is given up while it is being made ends with its client.
        let connection = tokio::spawn(connection).abort_handle();
        connection::prepare(&client, &self.address).await?;
        format::check(&client, &self.address).await?;
        let mut statements = HashMap::new();
        for sql in self.statements {
            statements.insert(*sql, client.prepare(&numbered(sql)).await?);
        }
        Ok(Session { client, statements, connection })
    }

    /// Gives up a connection that failed, unless there is a new one already. The socket of a mute one is closed: it would wait for
    /// its answers.
    pub(super) fn forget(&mut self, failed: &Arc<Session>) {
        failed.connection.abort();
        if self.current.as_ref().is_some_and(|current| Arc::ptr_eq(current, failed)) {
            self.current = None;
        }
    }
}

/// Whether a new connection to the server is answered: a connection that is silent may be at work on something large.
pub(super) async fn answers(address: &Address) -> bool {
    let ask = async {
        let (client, connection) = connection::connect(address).await?;
        let connection = tokio::spawn(connection);
        let answered = client.simple_query("SELECT 1").await;
        connection.abort();
        answered
    };
    matches!(timeout(address.patience(0), ask).await, Ok(Ok(_)))
}
