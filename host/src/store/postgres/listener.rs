//! Hears what others did to the runs.

use std::{future::poll_fn, sync::Arc};

use tokio::{sync::watch, time::sleep};
use tokio_postgres::AsyncMessage;

use super::{
    address::Address,
    follow::{self, Audience},
    link::{PAUSES, connect},
};

/// Listens until nobody runs it any more. Whatever may have happened while it did not listen counts as a change.
pub(super) async fn listen(address: Arc<Address>, changed: Arc<watch::Sender<()>>, audience: Arc<Audience>) {
    let mut pause = PAUSES.0;
    loop {
        match listen_once(&address, &changed, &audience).await {
            Ok(()) => pause = PAUSES.0,
            Err(_) => pause = PAUSES.1.min(pause * 2),
        }
        sleep(pause).await;
    }
}

/// Ends when the connection does.
async fn listen_once(
    address: &Address,
    changed: &Arc<watch::Sender<()>>,
    audience: &Arc<Audience>,
) -> Result<(), tokio_postgres::Error> {
    let (client, mut connection) = connect(address).await?;
    let (heard, audience) = (Arc::clone(changed), Arc::clone(audience));
    let (wanted, lease) = (follow::wanted(&address.schema), address.lease);
    let listen = format!("LISTEN \"{}\"; LISTEN \"{wanted}\"", address.schema);
    let hearing = tokio::spawn(async move {
        while let Some(Ok(message)) = poll_fn(|cx| connection.poll_message(cx)).await {
            let AsyncMessage::Notification(said) = message else { continue };
            if said.channel() == wanted {
                audience.take(said.payload(), lease);
            } else {
                heard.send_replace(());
            }
        }
    });
    client.batch_execute(&listen).await?;
    changed.send_replace(());
    drop(hearing.await);
    Ok(())
}
