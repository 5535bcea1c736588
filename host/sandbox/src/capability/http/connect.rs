//! Connecting to one of the checked addresses.

use std::net::{IpAddr, SocketAddr};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};

use super::{failure::Failure, net::Net, target::Target, tls};

pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// Connects to the first address that responds.
pub(super) async fn connect(
    net: &Net,
    target: &Target,
    addresses: &[IpAddr],
) -> Result<Box<dyn Stream>, Failure> {
    let mut failed = None;
    for address in addresses {
        match TcpStream::connect(SocketAddr::new(*address, target.port)).await {
            Ok(stream) => return secured(net, target, stream).await,
            Err(error) => failed = Some(Failure::connection(&error)),
        }
    }
    Err(failed.unwrap_or_else(|| Failure::address("it has no address")))
}

async fn secured(net: &Net, target: &Target, stream: TcpStream) -> Result<Box<dyn Stream>, Failure> {
    // Only slower without it.
    let _ = stream.set_nodelay(true);
    if !target.secure {
        return Ok(Box::new(stream));
    }
    let config = net.tls().await.map_err(|why| Failure::tls(why, true))?;
    Ok(Box::new(tls::secure(config, &target.host, stream).await?))
}
