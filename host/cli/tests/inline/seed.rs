//! Seed 002's example of Python, word for word, with a service that does not respond in time.

use std::{
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::Arc,
    thread,
};

use phasm::{Host, Map, Phase, RunView, Value, sandbox::Isolation};
use serde_json::Value as Json;

use crate::{
    attempt,
    guest::{PYTHON, grants},
    runs::{self, FastClock, attempts},
};

const EXAMPLE: &str = include_str!("../../../../tests/seeds/002-3.3-python.yaml");

/// The task before the example's: its outputs are `_prev`.
const BEFORE: &str = "- fetch:\n    kind: python\n    code: |\n      result = [1, 2, 3]\n";

/// The function that the example calls: a service adds the numbers up.
const TRANSFORM: &str = "      import json, socket\n      def do_transform(data):\n          with socket.create_connection(('127.0.0.1', PORT), \
                         timeout=0.3) as service:\n              service.sendall(json.dumps(data).encode())\n              \
                         service.shutdown(socket.SHUT_WR)\n              said = service.recv(1000)\n          return json.loads(said)\n";

/// A service that does not respond to the first calls, and then sends what it is sent.
fn service(silent: usize) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let mut kept: Vec<TcpStream> = Vec::new();
        for stream in listener.incoming().map(Result::unwrap) {
            if kept.len() < silent {
                kept.push(stream);
            } else {
                respond(stream);
            }
        }
    });
    port
}

fn respond(mut stream: TcpStream) {
    let mut said = Vec::new();
    stream.read_to_end(&mut said).unwrap();
    stream.write_all(&said).unwrap();
}

/// Runs the example with this code before its own.
async fn run(port: u16, code: &str) -> (RunView, Vec<Json>) {
    let host = Host::builder()
        .sandbox(attempt::sandbox(Isolation::Shared))
        .plugin("python", Arc::clone(&PYTHON))
        .grant("python", grants(port))
        .time(FastClock::start())
        .open()
        .unwrap();
    let own = "    code: |\n";
    let example = EXAMPLE.replace(own, &format!("{own}{}", code.replace("PORT", &port.to_string())));
    runs::run(&host, &runs::document(&format!("{BEFORE}{example}"), ""), &Map::new()).await
}

/// R-N4, R-L174, section 3.3: timeouts are tried again, up to three times, after 1 and 2 seconds; other exceptions fail at once.
#[tokio::test]
async fn the_example_runs_as_it_is_written() {
    // The component is compiled before there is a clock.
    let (ready, _) = run(service(0), TRANSFORM).await;
    assert_eq!(ready.phase, Phase::Succeeded, "{}", serde_json::to_string(&ready).unwrap());
    let broken = "      def do_transform(data):\n          raise ValueError('no numbers')\n";
    let rows = [
        ("responds", 0, TRANSFORM, Phase::Succeeded, vec![]),
        ("two timeouts", 2, TRANSFORM, Phase::Succeeded, vec![1000, 2000]),
        ("timeouts all along", usize::MAX, TRANSFORM, Phase::Failed, vec![1000, 2000]),
        ("another exception", 0, broken, Phase::Failed, vec![]),
        ("no function", 0, "", Phase::Failed, vec![]),
    ];
    for (row, silent, code, phase, expected) in rows {
        let (view, events) = run(service(silent), code).await;
        let told = serde_json::to_string(&view).unwrap();
        let (count, delays) = attempts(&events);
        // One attempt is that of the task before.
        assert_eq!((view.phase, count, &delays), (phase, expected.len() + 2, &expected), "{row}: {told}");
        let task = view.tasks.iter().find(|task| &*task.task_name == "transform").unwrap();
        if phase == Phase::Succeeded {
            let three = Value::from(vec![Value::from(1), Value::from(2), Value::from(3)]);
            let sent = Value::from(Map::from([("result".into(), three)]));
            assert_eq!(task.outputs[0].value.to_json(), sent.to_json(), "{row}: {told}");
        } else {
            let message = match (silent, code) {
                (usize::MAX, _) => "TimeoutError: timed out (line 6)",
                (_, "") => "NameError: name 'do_transform' is not defined (line 1)",
                _ => "ValueError: no numbers (line 2)",
            };
            assert_eq!(&*task.message, message, "{row}: {told}");
        }
    }
}
