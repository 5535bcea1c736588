//! Look-ups of names: `wasi:sockets/ip-name-lookup`.

use std::net::IpAddr;

use wasmtime::component::Resource;
use wasmtime_wasi::p2::{
    DynPollable, Network, Pollable, SocketResult,
    bindings::sockets::{
        ip_name_lookup::{self, ResolveAddressStream},
        network::{ErrorCode, IpAddress},
    },
    subscribe,
};

use super::{background::Background, failure::Failure, view::SocketsView};

/// A look-up of a guest, and how many addresses it has taken.
pub(super) struct Lookup {
    found: Background<Result<Vec<IpAddr>, Failure>>,
    taken: usize,
}

#[wasmtime_wasi::async_trait]
impl Pollable for Lookup {
    async fn ready(&mut self) {
        self.found.wait().await;
    }
}

/// Returns the handle by which the table knows the look-up. Guests' handles are of wasmtime's type.
fn own(handle: &Resource<ResolveAddressStream>) -> Resource<Lookup> {
    Resource::new_borrow(handle.rep())
}

impl ip_name_lookup::Host for SocketsView<'_> {
    fn resolve_addresses(
        &mut self,
        network: Resource<Network>,
        name: String,
    ) -> SocketResult<Resource<ResolveAddressStream>> {
        self.table.get(&network)?;
        if self.network.grant.is_empty() {
            self.refuse_name(&name);
            return Err(ErrorCode::AccessDenied.into());
        }
        let found = self.dialer().look_up(name);
        let lookup = self.table.push(Lookup { found, taken: 0 })?;
        Ok(Resource::new_own(lookup.rep()))
    }
}

impl ip_name_lookup::HostResolveAddressStream for SocketsView<'_> {
    fn resolve_next_address(
        &mut self,
        handle: Resource<ResolveAddressStream>,
    ) -> SocketResult<Option<IpAddress>> {
        let Lookup { found, taken } = self.table.get_mut(&own(&handle))?;
        let Some(found) = found.done() else { return Err(ErrorCode::WouldBlock.into()) };
        let addresses = found.as_ref().map_err(|failure| ErrorCode::from(*failure))?;
        let next = addresses.get(*taken).copied();
        *taken = taken.saturating_add(1);
        Ok(next.map(IpAddress::from))
    }

    fn subscribe(
        &mut self,
        handle: Resource<ResolveAddressStream>,
    ) -> wasmtime::Result<Resource<DynPollable>> {
        subscribe(self.table, own(&handle))
    }

    fn drop(&mut self, handle: Resource<ResolveAddressStream>) -> wasmtime::Result<()> {
        self.table.delete(Resource::<Lookup>::new_own(handle.rep()))?;
        Ok(())
    }
}
