//! One statement, and who waits for what it says.

use tokio::sync::oneshot;
use tokio_postgres::{Error, Row, types::ToSql};

use std::sync::Arc;

use super::{
    super::{Pending, StoreError},
    address::Address,
    fault::{Parameter, PostgresError},
    reconnect::Session,
};

/// A statement to be made.
pub(super) struct Statement {
    sql: &'static str,
    parameters: Vec<Parameter>,
    answer: Box<dyn FnOnce(Result<Vec<Row>, StoreError>) + Send + Sync>,
}

impl Statement {
    /// A statement, and where comes what its rows are read as.
    pub(super) fn new<T: Send + 'static>(
        address: &Arc<Address>,
        sql: &'static str,
        parameters: Vec<Parameter>,
        read: impl FnOnce(&[Row]) -> Result<T, PostgresError> + Send + Sync + 'static,
    ) -> (Self, Pending<T>) {
        let (answer, answered) = oneshot::channel();
        let address = Arc::clone(address);
        let answer = Box::new(move |rows: Result<Vec<Row>, StoreError>| {
            let read = |rows: Vec<Row>| read(&rows).map_err(|fault| fault.at(&address, "read"));
            drop(answer.send(rows.and_then(read)));
        });
        (Self { sql, parameters, answer }, Pending::sent(answered))
    }

    pub(super) async fn send(&self, connected: &Session) -> Result<Vec<Row>, Error> {
        let parameters: Vec<&(dyn ToSql + Sync)> =
            self.parameters.iter().map(|one| &**one as &(dyn ToSql + Sync)).collect();
        connected.query(self.sql, &parameters).await
    }

    pub(super) fn answer(self, rows: Result<Vec<Row>, StoreError>) {
        (self.answer)(rows);
    }
}
