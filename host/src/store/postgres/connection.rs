//! Settings of each connection to the database.

use tokio_postgres::{Client, Connection, Error, Socket};

use super::{
    address::Address,
    tls::{Tls, TlsConnection},
};

/// Settings of each connection: the tables are found, and what is acknowledged is on the server's disk.
///
/// A statement of a client that has gone, or that has stopped between two messages, ends: it would hold locks that others wait for.
///
/// Statements are planned once, often while the tables are empty, and shall not go on reading tables whole when they are not, nor all that an
/// index has where they need the first rows of it.
pub(in super::super) const SETTINGS: &str = "SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_hashjoin = off;
    SET enable_mergejoin = off; SET jit = off;
    SET plan_cache_mode = force_generic_plan; SET default_transaction_isolation = 'read committed';
    SET statement_timeout = '10min'; SET idle_in_transaction_session_timeout = '2min';
    SELECT set_config('client_connection_check_interval', '10s', false) FROM pg_settings WHERE name = 'client_connection_check_interval';
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';";

/// Makes a connection ready for statements about the tables.
pub(super) async fn prepare(client: &Client, address: &Address) -> Result<(), Error> {
    client.batch_execute(&format!("SET search_path = \"{}\"; {SETTINGS}", address.schema)).await
}

/// Makes a new connection; the caller has to poll its second half.
pub(super) async fn connect(
    address: &Address,
) -> Result<(Client, Connection<Socket, TlsConnection<Socket>>), Error> {
    address.config.connect::<Tls>(address.tls.clone()).await
}
