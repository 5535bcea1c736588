//! Ctrl-C and SIGTERM.

use std::io;

use tokio::sync::watch;

/// Hears that the user, or whoever supervises the process, wants an end. Every clone hears all.
#[derive(Clone, Debug)]
pub(super) struct Interrupts(watch::Receiver<u32>);

impl Interrupts {
    /// From now on interrupts no longer end the process by themselves. Needs a runtime around it.
    ///
    /// # Errors
    /// When the system does not let us listen.
    pub(super) fn listen() -> io::Result<Self> {
        let mut signals = Signals::listen()?;
        let (count, heard) = watch::channel(0);
        tokio::spawn(async move {
            loop {
                signals.next().await;
                count.send_modify(|count| *count += 1);
            }
        });
        Ok(Self(heard))
    }

    /// Waits for the next one, and tells how many there have been.
    pub(super) async fn next(&mut self) -> u32 {
        if self.0.changed().await.is_err() {
            // Nobody listens any more, as the runtime is being shut down.
            std::future::pending::<()>().await;
        }
        *self.0.borrow_and_update()
    }
}

struct Signals {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
}

impl Signals {
    fn listen() -> io::Result<Self> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            Ok(Self {
                terminate: signal(SignalKind::terminate())?,
                interrupt: signal(SignalKind::interrupt())?,
            })
        }
        #[cfg(not(unix))]
        Ok(Self {})
    }

    async fn next(&mut self) {
        #[cfg(unix)]
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
        #[cfg(not(unix))]
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
