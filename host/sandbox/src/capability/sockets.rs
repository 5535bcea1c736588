//! Sockets: there are none. Every attempt to use one fails with access-denied, and is noted.

use wasmtime::component::{Linker, ResourceTable};
use wasmtime_wasi::{
    p2::bindings::sockets::{
        instance_network, ip_name_lookup, network, tcp, tcp_create_socket, udp, udp_create_socket,
    },
    sockets::{WasiSockets, WasiSocketsCtx, WasiSocketsCtxView},
};

use super::refusals::Refusals;

/// Allows nothing, in any call.
pub(crate) type Sockets = WasiSocketsCtx;

/// View of the sockets in a store.
pub(crate) struct SocketsView<'a> {
    pub(crate) sockets: &'a mut Sockets,
    pub(crate) refusals: &'a mut Refusals,
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
    tcp_create_socket::add_to_linker::<T, WasiSockets>(linker, refusing::<T>)?;
    udp_create_socket::add_to_linker::<T, WasiSockets>(linker, refusing::<T>)?;
    ip_name_lookup::add_to_linker::<T, WasiSockets>(linker, refusing::<T>)
}

fn sockets<T: HasSockets>(state: &mut T) -> WasiSocketsCtxView<'_> {
    let SocketsView { sockets, table, .. } = state.sockets();
    WasiSocketsCtxView { ctx: sockets, table }
}

/// Returns the view for functions that create a socket or an address; it notes the refusal.
fn refusing<T: HasSockets>(state: &mut T) -> WasiSocketsCtxView<'_> {
    let SocketsView { sockets, refusals, table } = state.sockets();
    refusals.add_missing_grant("network");
    WasiSocketsCtxView { ctx: sockets, table }
}
