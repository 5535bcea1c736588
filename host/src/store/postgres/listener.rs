//! Hears what others did to the runs.

use std::{future::poll_fn, sync::Arc};

use tokio::{
    sync::watch,
    time::{sleep, timeout},
};
use tokio_postgres::AsyncMessage;

use super::{
    address::Address,
    connection::connect,
    entries, exchange,
    follow::{self, Audience},
    outbox,
    reconnect::PAUSES,
};

/// Receivers of changes.
#[derive(Clone)]
pub(super) struct Tells {
    pub(super) changed: Arc<watch::Sender<()>>,
    pub(super) reconnected: Arc<watch::Sender<()>>,
    pub(super) shared: Arc<watch::Sender<()>>,
    pub(super) entries: Arc<watch::Sender<()>>,
    pub(super) notices: Arc<watch::Sender<()>>,
    pub(super) audience: Arc<Audience>,
}

impl Tells {
    /// Hosts come and go, too, whose attempts are shared.
    fn tell(&self) {
        self.changed.send_replace(());
        self.shared.send_replace(());
    }

    /// Whatever may have happened.
    fn tell_all(&self) {
        self.tell();
        self.reconnected.send_replace(());
        self.entries.send_replace(());
        self.notices.send_replace(());
    }
}

/// Listens until the future is dropped. Changes may have been missed while it did not listen, so that the start counts as a
/// change.
pub(super) async fn listen(address: Arc<Address>, tells: Tells) {
    let mut pause = PAUSES.0;
    loop {
        match listen_once(&address, &tells).await {
            Ok(()) => pause = PAUSES.0,
            Err(_) => pause = PAUSES.1.min(pause * 2),
        }
        sleep(pause).await;
    }
}

/// Ends when the connection does.
async fn listen_once(address: &Address, tells: &Tells) -> Result<(), tokio_postgres::Error> {
    let patience = address.patience(0);
    // The caller tries again after either failure.
    let Ok(connected) = timeout(patience, connect(address)).await else { return Ok(()) };
    let (client, mut connection) = connected?;
    let heard = tells.clone();
    let (wanted, lease) = (follow::wanted(&address.schema), address.lease);
    let (shared, entries) = (exchange::channel(&address.schema), entries::channel(&address.schema));
    let notices = outbox::channel(&address.schema);
    let listen = format!(
        "LISTEN \"{}\"; LISTEN \"{wanted}\"; LISTEN \"{shared}\"; LISTEN \"{entries}\"; LISTEN \"{notices}\"",
        address.schema
    );
    let mut hearing = tokio::spawn(async move {
        while let Some(Ok(message)) = poll_fn(|cx| connection.poll_message(cx)).await {
            let AsyncMessage::Notification(said) = message else { continue };
            if said.channel() == wanted {
                heard.audience.take(said.payload(), lease);
            } else if said.channel() == shared {
                heard.shared.send_replace(());
            } else if said.channel() == entries {
                heard.entries.send_replace(());
            } else if said.channel() == notices {
                heard.notices.send_replace(());
            } else {
                heard.tell();
            }
        }
    });
    // A connection on which nothing is said may be dead; it is asked now and then.
    let is_heard = async {
        if !matches!(timeout(patience, client.batch_execute(&listen)).await, Ok(Ok(()))) {
            return;
        }
        // Followers may have announced themselves meanwhile.
        tells.audience.take(follow::ALL, lease);
        tells.tell_all();
        loop {
            sleep(patience).await;
            if !matches!(timeout(patience, client.batch_execute("")).await, Ok(Ok(()))) {
                return;
            }
        }
    };
    tokio::pin!(is_heard);
    tokio::select! {
        _ended = &mut hearing => {}
        () = is_heard => hearing.abort(),
    }
    Ok(())
}
