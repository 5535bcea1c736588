//! A server on this machine, for one test.

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    task::JoinHandle,
};

/// Behaviour towards each connection.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Manner {
    /// Reads to the end, and sends it back.
    Echo,
    /// Reads nothing and sends nothing.
    Hang,
    /// Sends without end.
    Flood,
    /// Reads without end, and sends nothing.
    Swallow,
}

/// Events of a connection.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum News {
    Opened,
    /// The other side has closed it, after so many bytes.
    Closed(usize),
}

pub(crate) struct Server {
    pub(crate) port: u16,
    pub(crate) news: UnboundedReceiver<News>,
    serving: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Server {
    pub(crate) async fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, news) = unbounded_channel();
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, manner, sender.clone()));
            }
        });
        Self { port, news, serving }
    }
}

async fn serve(mut stream: TcpStream, manner: Manner, news: UnboundedSender<News>) {
    // The test may be over.
    let _ = news.send(News::Opened);
    let mut bytes = Vec::new();
    let count = match manner {
        Manner::Echo => {
            let read = stream.read_to_end(&mut bytes).await.unwrap_or(0);
            let _gone = stream.write_all(&bytes).await;
            read
        }
        Manner::Swallow => stream.read_to_end(&mut bytes).await.unwrap_or(bytes.len()),
        Manner::Hang => {
            // A closed connection is an error or an end, once there is nothing left to read; it is looked at without reading.
            let _closed = stream.ready(tokio::io::Interest::READABLE).await;
            stream.read_to_end(&mut bytes).await.unwrap_or(bytes.len())
        }
        Manner::Flood => {
            while stream.write_all(&[7; 65_536]).await.is_ok() {}
            0
        }
    };
    let _over = news.send(News::Closed(count));
}
