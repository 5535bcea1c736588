//! Results, exceptions and the log of code in a workflow.

use phasm::{Outcome, sandbox::Isolation};
use serde_json::{Value as Json, json};

use crate::{
    bench::Bench,
    guest::{Guests, folder},
};

fn result(outcome: &Outcome) -> Json {
    assert_eq!(outcome.code, 0, "{}", outcome.message);
    serde_json::from_str(&outcome.outputs[0].value.to_json()).unwrap()
}

/// Returns code, message and `error.kind`.
fn failure(outcome: &Outcome) -> (i32, String, Json) {
    let detail: Json = serde_json::from_str(&outcome.detail.as_ref().unwrap().to_json()).unwrap();
    (outcome.code, outcome.message.to_string(), detail["error"]["kind"].clone())
}

/// R-L126: both do what their manifests say.
#[test]
fn both_keep_their_word() {
    let bench = Bench::new();
    for name in ["python", "script"] {
        let ran = bench.phasm(&["plugin", "test", folder(name).to_str().unwrap()]);
        assert_eq!(ran.status, 0, "{name}: {ran:?}");
        assert!(ran.stdout.contains(" 0 failed"), "{name}: {ran:?}");
    }
}

/// R-L173: `result` is the output; arguments are variables.
#[tokio::test]
async fn python_calculates_a_result() {
    let guests = Guests::new(Isolation::Shared);
    let rows = [
        (
            json!({ "code": "result = data * 2", "args": { "data": [1, "a", null] } }),
            json!([1, "a", null, 1, "a", null]),
        ),
        (
            json!({ "code": "def f(n):\n    return 1 if n < 2 else n * f(n - 1)\nresult = f(20)" }),
            json!(2_432_902_008_176_640_000_u64),
        ),
        (
            json!({ "code": "import sqlite3\nresult = sqlite3.connect(':memory:').execute('select 6 * 7').fetchone()" }),
            json!([42]),
        ),
        (
            json!({ "code": "import re, datetime as d\nresult = d.datetime.strptime('31.01.2026', '%d.%m.%Y').date().isoformat()" }),
            json!("2026-01-31"),
        ),
        (
            json!({ "code": "import xml.etree.ElementTree as e, csv, io\nresult = [e.fromstring('<a b=\"c\"/>').get('b'), *csv.reader(io.StringIO('x,y'))]" }),
            json!(["c", ["x", "y"]]),
        ),
        (json!({ "code": "pass" }), json!(null)),
        (json!({ "code": "x = 1", "args": null }), json!(null)),
    ];
    for (inputs, expected) in rows {
        assert_eq!(result(&guests.heard("python", &inputs).await.0), expected, "{inputs}");
    }
    // Nothing is left of the call before.
    let (gone, _) = guests.heard("python", &json!({ "code": "result = x" })).await;
    assert_eq!(
        failure(&gone),
        (2, "NameError: name 'x' is not defined (line 1)".to_owned(), json!("NameError"))
    );
}

/// R-L174: an exception is code 2 with its class, text and line; what is printed is in the log.
#[tokio::test]
async fn exceptions_of_python_are_failures() {
    let guests = Guests::new(Isolation::Shared);
    let rows = [
        ("raise TimeoutError('timed out')", "TimeoutError: timed out (line 1)", "TimeoutError"),
        ("def f():\n    return {}['a']\n\nf()", "KeyError: 'a' (line 2)", "KeyError"),
        ("class Busy(Exception):\n    pass\nraise Busy", "Busy (line 3)", "Busy"),
        ("import sys\nsys.exit(3)", "SystemExit: 3 (line 2)", "SystemExit"),
        ("def f(): f()\nf()", "RecursionError: maximum recursion depth exceeded (line 1)", "RecursionError"),
        ("result = (", "SyntaxError: '(' was never closed (<code>, line 1)", "SyntaxError"),
        (
            "import numpy",
            "ModuleNotFoundError: No module named 'numpy'; this executor has only",
            "ModuleNotFoundError",
        ),
        ("open('/etc/passwd')", "FileNotFoundError: ", "FileNotFoundError"),
        ("from phasm_sdk import Failed\nraise Failed('no rows', kind='empty')", "no rows", "empty"),
    ];
    for (code, message, kind) in rows {
        let (outcome, _) = guests.heard("python", &json!({ "code": code })).await;
        let (status, said, of) = failure(&outcome);
        assert_eq!((status, of), (2, json!(kind)), "{code}: {said}");
        assert!(said.starts_with(message), "{code}: {said}");
    }
    let (_, lines) =
        guests.heard("python", &json!({ "code": "print('a', 1)\nraise ValueError('no')" })).await;
    assert_eq!(lines[0], "Info a 1");
    assert!(lines.iter().any(|line| line == "Error     raise ValueError('no')"), "{lines:?}");
    assert!(lines.iter().all(|line| !line.contains("inline.py")), "{lines:?}");
    let (wrong, _) = guests.heard("python", &json!({ "code": "result = {1}" })).await;
    assert_eq!(failure(&wrong).0, 3, "{}", wrong.message);
}

/// R-L175: the code of `script` is the body of a function.
#[tokio::test]
async fn script_returns_a_result() {
    let guests = Guests::new(Isolation::Shared);
    let rows = [
        (json!({ "code": "return data.map(n => n * 2)", "args": { "data": [1, 2] } }), json!([2, 4])),
        (json!({ "code": "const m = new Map([['a', 1]]); return Object.fromEntries(m)" }), json!({ "a": 1 })),
        (json!({ "code": "if (false) return 1" }), json!(null)),
    ];
    for (inputs, expected) in rows {
        assert_eq!(result(&guests.heard("script", &inputs).await.0), expected, "{inputs}");
    }
    let rows = [
        ("throw new RangeError('too far')", 2, "RangeError: too far", "RangeError"),
        ("return nothing", 2, "ReferenceError: nothing is not defined", "ReferenceError"),
        ("class Busy extends Error { name = 'Busy' }\nthrow new Busy('later')", 2, "Busy: later", "Busy"),
        ("throw { a: 1 }", 2, "the code threw {\"a\":1}", "exception"),
        ("http.get('https://api.example.com/x')", 3, "GET https://api.example.com/x", "grant"),
    ];
    for (code, status, message, kind) in rows {
        let (outcome, _) = guests.heard("script", &json!({ "code": code })).await;
        let (found, said, of) = failure(&outcome);
        assert_eq!((found, of), (status, json!(kind)), "{code}: {said}");
        assert!(said.starts_with(message), "{code}: {said}");
    }
    let (_, lines) = guests.heard("script", &json!({ "code": "console.log('a', 1)" })).await;
    assert_eq!(lines, ["Info a 1"]);
}

/// R-L173, R-L175: the same in a process of its own.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn code_runs_in_a_process_of_its_own() {
    let guests = Guests::new(Isolation::Process);
    let python = json!({ "code": "import os\nresult = [n + 1, os.listdir('/') if os.path.exists('/') else []]", "args": { "n": 1 } });
    assert_eq!(result(&guests.heard("python", &python).await.0), json!([2, []]));
    let script = json!({ "code": "return n + 1", "args": { "n": 1 } });
    assert_eq!(result(&guests.heard("script", &script).await.0), json!(2));
}
