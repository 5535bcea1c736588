//! Sockets: there are none. Every attempt at one is answered with access-denied, and noted.

use wasmtime::component::Linker;
use wasmtime_wasi::{
    p2::bindings::sockets::{
        instance_network, ip_name_lookup, network, tcp, tcp_create_socket, udp, udp_create_socket,
    },
    sockets::{WasiSockets, WasiSocketsCtx, WasiSocketsCtxView},
};

use super::active;
use crate::guest::Guest;

/// Allows nothing, for every call.
pub(super) type Sockets = WasiSocketsCtx;

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    let options = network::LinkOptions::default();
    network::add_to_linker::<_, WasiSockets>(linker, &options, sockets)?;
    instance_network::add_to_linker::<_, WasiSockets>(linker, sockets)?;
    tcp::add_to_linker::<_, WasiSockets>(linker, sockets)?;
    udp::add_to_linker::<_, WasiSockets>(linker, sockets)?;
    tcp_create_socket::add_to_linker::<_, WasiSockets>(linker, refused)?;
    udp_create_socket::add_to_linker::<_, WasiSockets>(linker, refused)?;
    ip_name_lookup::add_to_linker::<_, WasiSockets>(linker, refused)
}

fn sockets(guest: &mut Guest) -> WasiSocketsCtxView<'_> {
    let Guest { held, table, .. } = active(guest);
    WasiSocketsCtxView { ctx: &mut held.sockets, table }
}

/// Whatever a socket or an address begins with.
fn refused(guest: &mut Guest) -> WasiSocketsCtxView<'_> {
    guest.refused.not_granted("network");
    sockets(guest)
}
