//! Ctrl-C and SIGTERM.

use std::io;

use tokio::sync::watch;

use crate::exit::Exit;

/// A signal that asks the process to end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Ctrl-C: the user wants no more of it.
    #[default]
    Interrupt,
    /// SIGTERM: a supervisor or the machine asks the process to end.
    Terminate,
}

impl Signal {
    /// The status to exit with.
    pub(crate) const fn exit(self) -> Exit {
        match self {
            Self::Interrupt => Exit::Interrupted,
            Self::Terminate => Exit::Terminated,
        }
    }

    /// The word before what follows from it.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Interrupt => "interrupted",
            Self::Terminate => "terminated",
        }
    }
}

/// The last signal, and how many there have been.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SignalCount {
    pub(crate) told: Signal,
    pub(crate) count: u32,
}

/// Receives the signals of the user and of supervisors. Every clone receives all of them.
#[derive(Clone, Debug)]
pub(crate) struct Interrupts(watch::Receiver<SignalCount>);

impl Interrupts {
    /// From now on interrupts no longer end the process by themselves. Needs a runtime around it.
    ///
    /// # Errors
    /// When the system does not let us listen.
    pub(crate) fn listen() -> io::Result<Self> {
        let mut signals = Signals::listen()?;
        let (sender, heard) = watch::channel(SignalCount::default());
        tokio::spawn(async move {
            loop {
                let told = signals.next().await;
                sender.send_modify(|heard| *heard = SignalCount { told, count: heard.count + 1 });
            }
        });
        Ok(Self(heard))
    }

    /// Waits for the next one.
    pub(crate) async fn next(&mut self) -> SignalCount {
        if self.0.changed().await.is_err() {
            // The sender is gone, as the runtime is being shut down.
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

    async fn next(&mut self) -> Signal {
        #[cfg(unix)]
        return tokio::select! {
            _ = self.terminate.recv() => Signal::Terminate,
            _ = self.interrupt.recv() => Signal::Interrupt,
        };
        #[cfg(not(unix))]
        {
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
            Signal::Interrupt
        }
    }
}
