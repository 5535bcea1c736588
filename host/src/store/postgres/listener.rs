//! Hears what others did to the runs.

use std::{future::poll_fn, sync::Arc};

use tokio::{sync::watch, time::sleep};
use tokio_postgres::AsyncMessage;

use super::{
    address::Address,
    follow::{self, Asked},
    link::{PAUSES, connect},
};

/// Listens until nobody runs it any more. Whatever may have happened while it did not listen counts as a change.
pub(super) async fn listen(address: Arc<Address>, changed: Arc<watch::Sender<()>>, asked: Arc<Asked>) {
    let mut pause = PAUSES.0;
    loop {
        match listen_once(&address, &changed, &asked).await {
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
    asked: &Arc<Asked>,
) -> Result<(), tokio_postgres::Error> {
    let (client, mut connection) = connect(address).await?;
    let (heard, asked) = (Arc::clone(changed), Arc::clone(asked));
    let (wanted, lease) = (follow::wanted(&address.schema), address.lease);
    let listen = format!("LISTEN \"{}\"; LISTEN \"{wanted}\"", address.schema);
    let hearing = tokio::spawn(async move {
        while let Some(Ok(message)) = poll_fn(|cx| connection.poll_message(cx)).await {
            match message {
                AsyncMessage::Notification(said) if said.channel() == wanted => {
                    asked.take(said.payload(), lease);
                }
                AsyncMessage::Notification(_) => drop(heard.send_replace(())),
                _ => {}
            }
        }
    });
    client.batch_execute(&listen).await?;
    changed.send_replace(());
    drop(hearing.await);
    Ok(())
}
