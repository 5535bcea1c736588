//! The sockets of one call, and their part of WASI.

use std::sync::Arc;

use wasmtime::{
    Error,
    component::{HasData, Linker, Resource, ResourceTable},
};
use wasmtime_wasi::{
    p2::{
        Network as NetworkHandle, SocketError,
        bindings::sockets::{
            instance_network, ip_name_lookup,
            network::{self, ErrorCode},
            tcp, tcp_create_socket, udp, udp_create_socket,
        },
    },
    sockets::{WasiSockets, WasiSocketsCtx, WasiSocketsCtxView},
};

#[cfg(target_os = "linux")]
use super::relay::TcpRelayClient;
use super::{
    TcpGrant,
    caller::{AttemptConnections, Caller, visible},
    dialer::Dialer,
};
use crate::{
    attempt_context::AttemptContext,
    capability::{
        http::Net,
        refusals::{Refusals, advice},
    },
    transcript::Transcript,
};

/// Sockets of one call; set up when the guest first uses one.
#[derive(Default)]
pub(crate) struct Sockets {
    dialer: Option<Dialer>,
    /// wasmtime's own state, which allows nothing.
    nothing: WasiSocketsCtx,
}

/// Network of one call, from which its connections are made.
pub(crate) struct Network<'a> {
    pub(crate) net: &'a Arc<Net>,
    /// Set where the parent of this process connects.
    #[cfg(target_os = "linux")]
    pub(crate) relay: Option<&'a Arc<TcpRelayClient>>,
    pub(crate) grant: &'a TcpGrant,
    pub(crate) attempt: &'a Arc<AttemptContext>,
    pub(crate) transcript: &'a Arc<Transcript>,
}

impl Sockets {
    fn own(&self) -> Option<&AttemptConnections> {
        self.dialer.as_ref().and_then(Dialer::own)
    }

    /// Reports the refusals of this process.
    pub(crate) fn report_refusals(&self, refusals: &mut Refusals) {
        self.own().into_iter().for_each(|own| own.report_refusals(refusals));
    }

    /// Returns the bytes that came in and went out in this process.
    pub(crate) fn byte_counts(&self) -> (u64, u64) {
        self.own().map_or((0, 0), AttemptConnections::byte_counts)
    }
}

/// View of the sockets in a store.
pub(crate) struct SocketsView<'a> {
    pub(crate) sockets: &'a mut Sockets,
    pub(crate) refusals: &'a mut Refusals,
    pub(crate) table: &'a mut ResourceTable,
    pub(crate) network: Network<'a>,
}

impl SocketsView<'_> {
    pub(super) fn dialer(&mut self) -> &mut Dialer {
        let Network { net, grant, attempt, transcript, .. } = &self.network;
        #[cfg(target_os = "linux")]
        let relay = self.network.relay;
        self.sockets.dialer.get_or_insert_with(|| {
            #[cfg(target_os = "linux")]
            if let Some(relay) = relay {
                return Dialer::Remote(Arc::clone(relay));
            }
            Dialer::Local(AttemptConnections::new(Caller::new(net, grant, attempt, transcript)))
        })
    }

    /// Notes a refusal that no grant lifts.
    pub(super) fn note(&mut self, why: &str) {
        self.refusals.add(|| why.to_owned());
    }

    /// Notes that there is no grant.
    pub(super) fn refuse_all(&mut self) {
        self.refuse_entry("connections", "HOST:PORT");
    }

    /// Notes that there is no grant for the look-up of a name.
    pub(super) fn refuse_name(&mut self, name: &str) {
        let name = visible(name);
        self.refuse_entry(&format!("look-up of {name}"), &format!("{name}:PORT"));
    }

    fn refuse_entry(&mut self, what: &str, entry: &str) {
        let plugin = self.network.attempt.plugin();
        self.refusals.add_missing_grant("network");
        self.refusals.add(|| format!("{what}: {}", advice("tcp", entry, plugin)));
    }
}

/// State of a store that has sockets.
pub(crate) trait HasSockets: Send + 'static {
    fn sockets(&mut self) -> SocketsView<'_>;
}

/// Marker of [`SocketsView`] for wasmtime.
struct TcpSockets;

impl HasData for TcpSockets {
    type Data<'a> = SocketsView<'a>;
}

pub(in crate::capability) fn link<T: HasSockets>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    let options = network::LinkOptions::default();
    network::add_to_linker::<T, TcpSockets>(linker, &options, T::sockets)?;
    instance_network::add_to_linker::<T, WasiSockets>(linker, nothing::<T>)?;
    tcp::add_to_linker::<T, TcpSockets>(linker, T::sockets)?;
    tcp_create_socket::add_to_linker::<T, TcpSockets>(linker, T::sockets)?;
    ip_name_lookup::add_to_linker::<T, TcpSockets>(linker, T::sockets)?;
    udp::add_to_linker::<T, WasiSockets>(linker, nothing::<T>)?;
    udp_create_socket::add_to_linker::<T, WasiSockets>(linker, no_udp::<T>)
}

/// Returns wasmtime's view, in which nothing is allowed.
fn nothing<T: HasSockets>(state: &mut T) -> WasiSocketsCtxView<'_> {
    let SocketsView { sockets, table, .. } = state.sockets();
    WasiSocketsCtxView { ctx: &mut sockets.nothing, table }
}

/// Returns the view for functions that create a socket of UDP; it notes the refusal.
fn no_udp<T: HasSockets>(state: &mut T) -> WasiSocketsCtxView<'_> {
    let SocketsView { sockets, table, refusals, network } = state.sockets();
    if network.grant.is_empty() {
        refusals.add_missing_grant("network");
    } else {
        refusals.add(|| "UDP: there are only connections by TCP".to_owned());
    }
    WasiSocketsCtxView { ctx: &mut sockets.nothing, table }
}

impl network::Host for SocketsView<'_> {
    fn convert_error_code(&mut self, error: SocketError) -> wasmtime::Result<ErrorCode> {
        error.downcast()
    }

    fn network_error_code(&mut self, error: Resource<Error>) -> wasmtime::Result<Option<ErrorCode>> {
        let error = self.table.get(&error)?;
        Ok(error.downcast_ref::<std::io::Error>().map(ErrorCode::from))
    }
}

impl network::HostNetwork for SocketsView<'_> {
    fn drop(&mut self, network: Resource<NetworkHandle>) -> wasmtime::Result<()> {
        self.table.delete(network)?;
        Ok(())
    }
}
