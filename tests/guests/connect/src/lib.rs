//! Connects by TCP with the standard library, and does as it is told.

use std::{
    io::{self, Read as _, Write as _},
    net::{Shutdown, TcpListener, TcpStream, ToSocketAddrs as _, UdpSocket},
};

use phasm_sdk::prelude::*;

inputs! {
    /// An order.
    pub struct Order {
        /// Action to take.
        act: Act,
        /// Host and port.
        to: String,
        /// Another host and port, for actions with two.
        then: String = String::new(),
        /// Text to send.
        send: String = String::new(),
        /// Number of times.
        times: u32 = 1,
    }
}

inputs! {
    /// Action of the guest.
    enum Act {
        /// Sends the text and returns the response.
        Ask = "ask",
        /// Connects so many times, and keeps all connections.
        Hold = "hold",
        /// Connects so many times, one after the other, whatever comes of it.
        Retry = "retry",
        /// Sends without end.
        Flood = "flood",
        /// Receives until the end.
        Drain = "drain",
        /// Looks up the first name, and connects to `then`.
        Swap = "swap",
        /// Looks up a name so many times.
        Resolve = "resolve",
        /// Listens.
        Listen = "listen",
        /// Binds a socket of UDP.
        Udp = "udp",
        /// Sends, and returns with the connection open.
        Leave = "leave",
    }
}

fn execute(call: Call<Order>) -> Outcome {
    let Order { act, to, then, send, times } = call.inputs;
    let done = match act {
        Act::Ask => ask(&to, &send),
        Act::Hold => hold(&to, times),
        Act::Retry => retry(&to, times),
        Act::Flood => flood(&to),
        Act::Drain => drain(&to),
        Act::Swap => swap(&to, &then),
        Act::Resolve => resolve(&to, times),
        Act::Listen => TcpListener::bind(&*to).map(|_| "listening".to_owned()),
        Act::Udp => UdpSocket::bind(&*to).map(|_| "bound".to_owned()),
        Act::Leave => leave(&to, &send),
    };
    match done {
        Ok(said) => Outcome::succeeded().output("said", said),
        Err(error) => Outcome::failed(format!("{:?}", error.kind())),
    }
}

fn ask(to: &str, send: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(to)?;
    stream.write_all(send.as_bytes())?;
    stream.shutdown(Shutdown::Write)?;
    let mut said = String::new();
    stream.read_to_string(&mut said)?;
    Ok(said)
}

fn hold(to: &str, times: u32) -> io::Result<String> {
    let held = (0..times).map(|_| TcpStream::connect(to)).collect::<io::Result<Vec<_>>>()?;
    Ok(held.len().to_string())
}

fn retry(to: &str, times: u32) -> io::Result<String> {
    let mut last = Ok(String::new());
    for _ in 0..times {
        last = TcpStream::connect(to).map(|_| "connected".to_owned());
    }
    last
}

fn flood(to: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(to)?;
    loop {
        stream.write_all(&[0; 4096])?;
    }
}

fn drain(to: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(to)?;
    let mut piece = [0; 4096];
    let mut count = 0;
    loop {
        match stream.read(&mut piece)? {
            0 => return Ok(count.to_string()),
            more => count += more,
        }
    }
}

fn swap(to: &str, then: &str) -> io::Result<String> {
    to.to_socket_addrs()?.next();
    TcpStream::connect(then).map(|_| "connected".to_owned())
}

fn resolve(to: &str, times: u32) -> io::Result<String> {
    let mut found = Vec::new();
    for _ in 0..times {
        found = to.to_socket_addrs()?.map(|address| address.ip().to_string()).collect();
    }
    found.sort();
    Ok(found.join(" "))
}

fn leave(to: &str, send: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(to)?;
    stream.write_all(send.as_bytes())?;
    std::mem::forget(stream);
    Ok("left".to_owned())
}

executor!(execute, {
    outputs: {
        /// Response, or what was done.
        said: Option<String>,
    },
});
