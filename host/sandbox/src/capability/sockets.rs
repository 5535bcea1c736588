//! Sockets: there are none. Every attempt at one is answered with access-denied, and noted.

use wasmtime::component::{Linker, ResourceTable};
use wasmtime_wasi::{
    p2::bindings::sockets::{
        instance_network, ip_name_lookup, network, tcp, tcp_create_socket, udp, udp_create_socket,
    },
    sockets::{WasiSockets, WasiSocketsCtx, WasiSocketsCtxView},
};

use super::refusals::Refusals;

/// Allows nothing, for every call.
pub(crate) type Sockets = WasiSocketsCtx;

/// View of the sockets in a store.
pub(crate) struct SocketsView<'a> {
    pub(crate) sockets: &'a mut Sockets,
    pub(crate) refused: &'a mut Refusals,
    pub(crate) table: &'a mut ResourceTable,
}

/// State of a store that has sockets, all of which are refused.
pub(crate) trait HasSockets: Send + 'static {
    fn sockets(&mut self) -> SocketsView<'_>;
}

pub(super) fn link<T: HasSockets>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    let options = network::LinkOptions::default();
    network::add_to_linker::<T, WasiSockets>(linker, &options, sockets::<T>)?;
    instance_network::add_to_linker::<T, WasiSockets>(linker, sockets::<T>)?;
    tcp::add_to_linker::<T, WasiSockets>(linker, sockets::<T>)?;
    udp::add_to_linker::<T, WasiSockets>(linker, sockets::<T>)?;
    tcp_create_socket::add_to_linker::<T, WasiSockets>(linker, refused::<T>)?;
    udp_create_socket::add_to_linker::<T, WasiSockets>(linker, refused::<T>)?;
    ip_name_lookup::add_to_linker::<T, WasiSockets>(linker, refused::<T>)
}

fn sockets<T: HasSockets>(state: &mut T) -> WasiSocketsCtxView<'_> {
    let SocketsView { sockets, table, .. } = state.sockets();
    WasiSocketsCtxView { ctx: sockets, table }
}

/// The view of functions that a socket or an address begins with: it notes the refusal.
fn refused<T: HasSockets>(state: &mut T) -> WasiSocketsCtxView<'_> {
    let SocketsView { sockets, refused, table } = state.sockets();
    refused.not_granted("network");
    WasiSocketsCtxView { ctx: sockets, table }
}
