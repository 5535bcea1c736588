//! The socket of a guest: `wasi:sockets/tcp` for clients.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use wasmtime::component::Resource;
use wasmtime_wasi::p2::{
    DynInputStream, DynOutputStream, DynPollable, Network, Pollable, SocketResult, TcpSocket,
    bindings::sockets::{
        network::{ErrorCode, IpAddressFamily, IpSocketAddress},
        tcp::{self, ShutdownType},
        tcp_create_socket,
    },
    subscribe,
};

use super::{
    background::Background,
    connection::Connection,
    failure::Failure,
    streams::{Reader, Writer},
    view::SocketsView,
};

/// Socket of a guest. The system has one for it only once it connects.
pub(super) struct Socket {
    family: IpAddressFamily,
    step: Step,
    options: Options,
}

enum Step {
    Fresh,
    Binding,
    Bound,
    Connecting(SocketAddr, Background<Option<Result<Connection, Failure>>>),
    Connected { local: Option<SocketAddr>, remote: SocketAddr, reader: Reader, writer: Writer },
    Failed(Failure),
}

/// Options as the guest set them. The host decides what becomes of a connection, so they have no effect.
struct Options {
    keep_alive: bool,
    idle: u64,
    interval: u64,
    count: u32,
    hop_limit: u8,
    receive_buffer: u64,
    send_buffer: u64,
}

impl Default for Options {
    /// Returns the values of Linux.
    fn default() -> Self {
        const SECOND: u64 = 1_000_000_000;
        Self {
            keep_alive: false,
            idle: 7200 * SECOND,
            interval: 75 * SECOND,
            count: 9,
            hop_limit: 64,
            receive_buffer: 128 << 10,
            send_buffer: 64 << 10,
        }
    }
}

impl Socket {
    fn new(family: IpAddressFamily) -> Self {
        Self { family, step: Step::Fresh, options: Options::default() }
    }

    fn wildcard(&self) -> SocketAddr {
        let address: IpAddr = match self.family {
            IpAddressFamily::Ipv4 => Ipv4Addr::UNSPECIFIED.into(),
            IpAddressFamily::Ipv6 => Ipv6Addr::UNSPECIFIED.into(),
        };
        SocketAddr::new(address, 0)
    }

    /// Returns whether the address is of the socket's family; IPv4 addresses that are written as IPv6 ones are of none.
    fn has_family(&self, address: SocketAddr) -> bool {
        match (self.family, address.ip()) {
            (IpAddressFamily::Ipv4, IpAddr::V4(_)) => true,
            (IpAddressFamily::Ipv6, IpAddr::V6(six)) => six.to_ipv4_mapped().is_none(),
            (IpAddressFamily::Ipv4, IpAddr::V6(_)) | (IpAddressFamily::Ipv6, IpAddr::V4(_)) => false,
        }
    }

    fn remote(&self, address: IpSocketAddress) -> Result<SocketAddr, ErrorCode> {
        let address = SocketAddr::from(address);
        match self.step {
            Step::Fresh | Step::Bound => {}
            Step::Binding | Step::Connecting(..) => return Err(ErrorCode::ConcurrencyConflict),
            Step::Connected { .. } | Step::Failed(_) => return Err(ErrorCode::InvalidState),
        }
        let ip = address.ip();
        if !self.has_family(address) || ip.is_unspecified() || ip.is_multicast() || address.port() == 0 {
            return Err(ErrorCode::InvalidArgument);
        }
        Ok(address)
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Socket {
    async fn ready(&mut self) {
        if let Step::Connecting(_, connecting) = &mut self.step {
            connecting.wait().await;
        }
    }
}

/// Returns the handle by which the table knows the socket. Guests' handles are of wasmtime's type.
fn own(handle: &Resource<TcpSocket>) -> Resource<Socket> {
    Resource::new_borrow(handle.rep())
}

impl SocketsView<'_> {
    fn socket(&mut self, handle: &Resource<TcpSocket>) -> SocketResult<&mut Socket> {
        Ok(self.table.get_mut(&own(handle))?)
    }

    fn options(&mut self, handle: &Resource<TcpSocket>) -> SocketResult<&mut Options> {
        Ok(&mut self.socket(handle)?.options)
    }
}

/// Sets an option that is above 0.
fn set<T: Default + PartialEq>(option: &mut T, value: T) -> SocketResult<()> {
    if value == T::default() {
        return Err(ErrorCode::InvalidArgument.into());
    }
    *option = value;
    Ok(())
}

impl tcp_create_socket::Host for SocketsView<'_> {
    fn create_tcp_socket(&mut self, family: IpAddressFamily) -> SocketResult<Resource<TcpSocket>> {
        if self.network.grant.is_empty() {
            self.refuse_all();
            return Err(ErrorCode::AccessDenied.into());
        }
        let socket = self.table.push(Socket::new(family))?;
        Ok(Resource::new_own(socket.rep()))
    }
}

impl tcp::Host for SocketsView<'_> {}

impl tcp::HostTcpSocket for SocketsView<'_> {
    async fn start_bind(
        &mut self,
        handle: Resource<TcpSocket>,
        network: Resource<Network>,
        address: IpSocketAddress,
    ) -> SocketResult<()> {
        self.table.get(&network)?;
        let socket = self.socket(&handle)?;
        let address = SocketAddr::from(address);
        match socket.step {
            Step::Fresh => {}
            Step::Binding | Step::Connecting(..) => return Err(ErrorCode::ConcurrencyConflict.into()),
            Step::Bound | Step::Connected { .. } | Step::Failed(_) => {
                return Err(ErrorCode::InvalidState.into());
            }
        }
        if !socket.has_family(address) {
            return Err(ErrorCode::InvalidArgument.into());
        }
        if address != socket.wildcard() {
            self.note(&format!("binding to {address}: a guest has no address of its own"));
            return Err(ErrorCode::AccessDenied.into());
        }
        socket.step = Step::Binding;
        Ok(())
    }

    fn finish_bind(&mut self, handle: Resource<TcpSocket>) -> SocketResult<()> {
        let socket = self.socket(&handle)?;
        if !matches!(socket.step, Step::Binding) {
            return Err(ErrorCode::NotInProgress.into());
        }
        socket.step = Step::Bound;
        Ok(())
    }

    fn start_connect(
        &mut self,
        handle: Resource<TcpSocket>,
        network: Resource<Network>,
        address: IpSocketAddress,
    ) -> SocketResult<()> {
        self.table.get(&network)?;
        let address = self.socket(&handle)?.remote(address)?;
        let connecting = self.dialer().connect(address);
        self.socket(&handle)?.step = Step::Connecting(address, connecting);
        Ok(())
    }

    fn finish_connect(
        &mut self,
        handle: Resource<TcpSocket>,
    ) -> SocketResult<(Resource<DynInputStream>, Resource<DynOutputStream>)> {
        let socket = self.socket(&handle)?;
        let Step::Connecting(remote, connecting) = &mut socket.step else {
            return Err(ErrorCode::NotInProgress.into());
        };
        let remote = *remote;
        let Some(connected) = connecting.done() else { return Err(ErrorCode::WouldBlock.into()) };
        let Connection { input, output, local } = match connected.take().unwrap_or(Err(Failure::Other)) {
            Ok(connection) => connection,
            Err(failure) => {
                socket.step = Step::Failed(failure);
                return Err(ErrorCode::from(failure).into());
            }
        };
        let (reader, writer) = (Reader::new(input), Writer::new(output));
        let streams: (DynInputStream, DynOutputStream) = (Box::new(reader.clone()), Box::new(writer.clone()));
        socket.step = Step::Connected { local, remote, reader, writer };
        let input = self.table.push_child(streams.0, &own(&handle))?;
        let output = self.table.push_child(streams.1, &own(&handle))?;
        Ok((input, output))
    }

    async fn start_listen(&mut self, handle: Resource<TcpSocket>) -> SocketResult<()> {
        self.socket(&handle)?;
        self.note("listening: a guest only connects to others");
        Err(ErrorCode::AccessDenied.into())
    }

    fn finish_listen(&mut self, handle: Resource<TcpSocket>) -> SocketResult<()> {
        self.socket(&handle)?;
        Err(ErrorCode::NotInProgress.into())
    }

    fn accept(
        &mut self,
        handle: Resource<TcpSocket>,
    ) -> SocketResult<(Resource<TcpSocket>, Resource<DynInputStream>, Resource<DynOutputStream>)> {
        self.socket(&handle)?;
        Err(ErrorCode::InvalidState.into())
    }

    fn local_address(&mut self, handle: Resource<TcpSocket>) -> SocketResult<IpSocketAddress> {
        let socket = self.socket(&handle)?;
        match &socket.step {
            Step::Connected { local: Some(local), .. } => Ok((*local).into()),
            Step::Bound | Step::Connected { local: None, .. } => Ok(socket.wildcard().into()),
            Step::Failed(failure) => Err(ErrorCode::from(*failure).into()),
            Step::Fresh | Step::Binding | Step::Connecting(..) => Err(ErrorCode::InvalidState.into()),
        }
    }

    fn remote_address(&mut self, handle: Resource<TcpSocket>) -> SocketResult<IpSocketAddress> {
        match &self.socket(&handle)?.step {
            Step::Connected { remote, .. } => Ok((*remote).into()),
            Step::Failed(failure) => Err(ErrorCode::from(*failure).into()),
            Step::Fresh | Step::Binding | Step::Bound | Step::Connecting(..) => {
                Err(ErrorCode::InvalidState.into())
            }
        }
    }

    fn is_listening(&mut self, _: Resource<TcpSocket>) -> wasmtime::Result<bool> {
        Ok(false)
    }

    fn address_family(&mut self, handle: Resource<TcpSocket>) -> wasmtime::Result<IpAddressFamily> {
        Ok(self.table.get(&own(&handle))?.family)
    }

    /// Does nothing: listening is what is refused, and libraries set this first.
    fn set_listen_backlog_size(&mut self, handle: Resource<TcpSocket>, value: u64) -> SocketResult<()> {
        self.socket(&handle)?;
        set(&mut 0, value)
    }

    fn keep_alive_enabled(&mut self, handle: Resource<TcpSocket>) -> SocketResult<bool> {
        Ok(self.options(&handle)?.keep_alive)
    }

    fn set_keep_alive_enabled(&mut self, handle: Resource<TcpSocket>, value: bool) -> SocketResult<()> {
        self.options(&handle)?.keep_alive = value;
        Ok(())
    }

    fn keep_alive_idle_time(&mut self, handle: Resource<TcpSocket>) -> SocketResult<u64> {
        Ok(self.options(&handle)?.idle)
    }

    fn set_keep_alive_idle_time(&mut self, handle: Resource<TcpSocket>, value: u64) -> SocketResult<()> {
        set(&mut self.options(&handle)?.idle, value)
    }

    fn keep_alive_interval(&mut self, handle: Resource<TcpSocket>) -> SocketResult<u64> {
        Ok(self.options(&handle)?.interval)
    }

    fn set_keep_alive_interval(&mut self, handle: Resource<TcpSocket>, value: u64) -> SocketResult<()> {
        set(&mut self.options(&handle)?.interval, value)
    }

    fn keep_alive_count(&mut self, handle: Resource<TcpSocket>) -> SocketResult<u32> {
        Ok(self.options(&handle)?.count)
    }

    fn set_keep_alive_count(&mut self, handle: Resource<TcpSocket>, value: u32) -> SocketResult<()> {
        set(&mut self.options(&handle)?.count, value)
    }

    fn hop_limit(&mut self, handle: Resource<TcpSocket>) -> SocketResult<u8> {
        Ok(self.options(&handle)?.hop_limit)
    }

    fn set_hop_limit(&mut self, handle: Resource<TcpSocket>, value: u8) -> SocketResult<()> {
        set(&mut self.options(&handle)?.hop_limit, value)
    }

    fn receive_buffer_size(&mut self, handle: Resource<TcpSocket>) -> SocketResult<u64> {
        Ok(self.options(&handle)?.receive_buffer)
    }

    fn set_receive_buffer_size(&mut self, handle: Resource<TcpSocket>, value: u64) -> SocketResult<()> {
        set(&mut self.options(&handle)?.receive_buffer, value)
    }

    fn send_buffer_size(&mut self, handle: Resource<TcpSocket>) -> SocketResult<u64> {
        Ok(self.options(&handle)?.send_buffer)
    }

    fn set_send_buffer_size(&mut self, handle: Resource<TcpSocket>, value: u64) -> SocketResult<()> {
        set(&mut self.options(&handle)?.send_buffer, value)
    }

    fn subscribe(&mut self, handle: Resource<TcpSocket>) -> wasmtime::Result<Resource<DynPollable>> {
        subscribe(self.table, own(&handle))
    }

    fn shutdown(&mut self, handle: Resource<TcpSocket>, direction: ShutdownType) -> SocketResult<()> {
        let Step::Connected { reader, writer, .. } = &self.socket(&handle)?.step else {
            return Err(ErrorCode::InvalidState.into());
        };
        if matches!(direction, ShutdownType::Receive | ShutdownType::Both) {
            reader.shut();
        }
        if matches!(direction, ShutdownType::Send | ShutdownType::Both) {
            writer.shut();
        }
        Ok(())
    }

    fn drop(&mut self, handle: Resource<TcpSocket>) -> wasmtime::Result<()> {
        self.table.delete(Resource::<Socket>::new_own(handle.rep()))?;
        Ok(())
    }
}
