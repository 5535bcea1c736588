//! A relay: the part of SMTP that clients need.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::{TcpListener, TcpStream},
    thread::{self, JoinHandle},
};

/// How the relay behaves.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Manner {
    /// Takes each email.
    Takes,
    /// Responds so to this command.
    Says(&'static str, &'static str),
    /// Closes the connection instead of a response to this command.
    Leaves(&'static str),
}

/// A client's words.
#[derive(Debug, Default)]
pub(crate) struct Said {
    pub(crate) commands: Vec<String>,
    pub(crate) data: String,
}

/// A relay for one connection.
pub(crate) struct Relay {
    pub(crate) port: u16,
    serving: JoinHandle<Said>,
}

impl Relay {
    pub(crate) fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let serving = thread::spawn(move || serve(listener.accept().unwrap().0, manner));
        Self { port, serving }
    }

    /// Waits for the end of the connection.
    pub(crate) fn said(self) -> Said {
        self.serving.join().unwrap()
    }
}

fn serve(stream: TcpStream, manner: Manner) -> Said {
    let mut output = stream.try_clone().unwrap();
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let mut said = Said::default();
    // The client may be gone.
    let mut say = |text: &str| output.write_all(format!("{text}\r\n").as_bytes()).is_ok();
    say("220 relay.example ESMTP");
    while let Some(line) = lines.next() {
        let verb = line.split([' ', ':']).next().unwrap_or_default().to_owned();
        said.commands.push(line);
        let usual = match verb.as_str() {
            "EHLO" => "250-relay.example\r\n250 8BITMIME",
            "DATA" => "354 go on",
            "QUIT" => "221 bye",
            _ => "250 ok",
        };
        match manner {
            Manner::Leaves(at) if at == verb => break,
            Manner::Says(at, text) if at == verb => {
                say(text);
                continue;
            }
            Manner::Takes | Manner::Says(..) | Manner::Leaves(_) => say(usual),
        };
        if verb == "DATA" {
            for line in lines.by_ref().take_while(|line| line != ".") {
                // A dot at the beginning of a line was doubled.
                said.data += line.strip_prefix('.').unwrap_or(&line);
                said.data += "\n";
            }
            say("250 taken as 1");
        }
        if verb == "QUIT" {
            break;
        }
    }
    said
}
