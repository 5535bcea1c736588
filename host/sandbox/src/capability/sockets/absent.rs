//! Substitute for TCP where HTTP and the network with it were left out. Every attempt to use a socket fails with access-denied, and
//! is noted.

use wasmtime::component::{Linker, ResourceTable};
use wasmtime_wasi::{
    p2::bindings::sockets::{
        instance_network, ip_name_lookup, network, tcp, tcp_create_socket, udp, udp_create_socket,
    },
    sockets::{WasiSockets, WasiSocketsCtx, WasiSocketsCtxView},
};

use crate::capability::refusals::Refusals;

/// Allows nothing, in any call.
#[derive(Default)]
pub(crate) struct Sockets(WasiSocketsCtx);

impl Sockets {
    pub(crate) fn report_refusals(&self, _: &mut Refusals) {}

    pub(crate) fn byte_counts(&self) -> (u64, u64) {
        (0, 0)
    }
}

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

pub(in crate::capability) fn link<T: HasSockets>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
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
    WasiSocketsCtxView { ctx: &mut sockets.0, table }
}

/// Returns the view for functions that create a socket or an address; it notes the refusal.
fn refusing<T: HasSockets>(state: &mut T) -> WasiSocketsCtxView<'_> {
    let SocketsView { sockets, refusals, table } = state.sockets();
    refusals.add_missing_grant("network");
    WasiSocketsCtxView { ctx: &mut sockets.0, table }
}
