//! A browser, driven over WebDriver: the few commands that are needed.

use std::{
    env, fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

/// How the standard calls the reference to an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";
/// For what would otherwise hang a test for ever.
const LONG: Duration = Duration::from_mins(1);
/// Pause between two looks at a page.
const LOOK: Duration = Duration::from_millis(20);

/// Keys without a letter, as the standard names them.
pub(crate) mod keys {
    pub(crate) const TAB: &str = "\u{E004}";
    pub(crate) const ENTER: &str = "\u{E007}";
    pub(crate) const CONTROL: char = '\u{E009}';
    pub(crate) const ESCAPE: &str = "\u{E00C}";
    pub(crate) const END: &str = "\u{E010}";
    pub(crate) const DOWN: &str = "\u{E015}";
}

/// One window of a browser.
pub(crate) struct Browser {
    driver: Child,
    port: u16,
    session: String,
}

impl Drop for Browser {
    fn drop(&mut self) {
        let session = self.session.clone();
        if !session.is_empty() {
            let _gone = self.try_send("DELETE", &format!("/session/{session}"), &Value::Null);
        }
        let _gone = self.driver.kill();
        let _gone = self.driver.wait();
    }
}

/// A program of the system, if it is installed.
fn program(name: &str) -> Option<std::path::PathBuf> {
    env::split_paths(&env::var_os("PATH")?).map(|dir| dir.join(name)).find(|path| path.is_file())
}

/// Starts a driver. Returns the port that it listens on, if it got one.
fn started(driver: &Path) -> Option<(Child, u16)> {
    let mut driver = Command::new(driver).arg("--port=0").stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
    let port = lines.find_map(|line| {
        let line = line.unwrap();
        let (_, rest) = line.split_once("successfully on port ")?;
        rest.trim_end_matches('.').parse().ok()
    });
    match port {
        Some(port) => Some((driver, port)),
        None => {
            driver.wait().unwrap();
            None
        }
    }
}

impl Browser {
    /// Nothing where there is none, which fails the test if `PHASM_TEST_ALL` is set.
    pub(crate) fn open(profile: &Path) -> Option<Self> {
        let (Some(_), Some(driver)) = (program("chromium"), program("chromedriver")) else {
            let said = "the page was not tried in a browser: no `chromium` and `chromedriver` (Debian: apt-get install chromium \
                        chromium-driver)\n";
            assert!(env::var_os("PHASM_TEST_ALL").is_none(), "{said}");
            // Not captured, as what passes is.
            std::io::stderr().write_all(said.as_bytes()).unwrap();
            return None;
        };
        // Drivers that start at once may choose the same port: the one that does not get it ends.
        let (driver, port) = (0..5).find_map(|_| started(&driver)).unwrap();
        let mut browser = Self { driver, port, session: String::new() };
        let profile = format!("--user-data-dir={}", profile.display());
        // Tests may run as root, and where there is little shared memory.
        let arguments = [
            "--headless",
            "--no-sandbox",
            "--disable-dev-shm-usage",
            "--disable-gpu",
            "--hide-scrollbars",
            &profile,
        ];
        let long = LONG.as_millis();
        let wanted = json!({ "capabilities": { "alwaysMatch": { "browserName": "chrome",
            "goog:chromeOptions": { "args": arguments }, "timeouts": { "script": long, "pageLoad": long },
            "unhandledPromptBehavior": "accept" } } });
        let begun = browser.send("POST", "/session", &wanted);
        begun["sessionId"].as_str().unwrap().clone_into(&mut browser.session);
        Some(browser)
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> Value {
        let answer = self.try_send(method, path, body).unwrap();
        assert!(answer["value"]["error"].is_null(), "{path} {answer}");
        answer["value"].clone()
    }

    fn try_send(&self, method: &str, path: &str, body: &Value) -> std::io::Result<Value> {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let port = self.port;
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: localhost:{port}\r\nconnection: close\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        )?;
        // The driver keeps its connections.
        let mut answer = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            answer.read_line(&mut line)?;
            match line.trim().split_once(':') {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.trim().parse().unwrap();
                }
                None if line.trim().is_empty() => break,
                Some(_) | None => {}
            }
        }
        let mut body = vec![0; length];
        answer.read_exact(&mut body)?;
        Ok(serde_json::from_slice(&body)?)
    }

    fn ask(&self, command: &str, body: &Value) -> Value {
        self.send("POST", &format!("/session/{}/{command}", self.session), body)
    }

    pub(crate) fn go(&self, address: &str) {
        self.ask("url", &json!({ "url": address }));
    }

    /// Where it is.
    pub(crate) fn address(&self) -> String {
        let address = self.send("GET", &format!("/session/{}/url", self.session), &Value::Null);
        address.as_str().unwrap().to_owned()
    }

    /// Returns the result of a script.
    pub(crate) fn run(&self, script: &str) -> Value {
        self.ask("execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Returns the value that a script passes to its callback.
    pub(crate) fn run_async(&self, script: &str) -> Value {
        self.ask("execute/async", &json!({ "script": script, "args": [] }))
    }

    /// Waits until an expression holds in the page. Each look is a script of its own, as a page that is left takes one that
    /// waits along without a result.
    pub(crate) fn until(&self, expression: &str) {
        let script = format!("try {{ return Boolean({expression}); }} catch (nothing) {{ return false; }}");
        let path = format!("/session/{}/execute/sync", self.session);
        let begun = Instant::now();
        while begun.elapsed() < LONG / 2 {
            let answer = self.try_send("POST", &path, &json!({ "script": script, "args": [] })).unwrap();
            if answer["value"] == true {
                return;
            }
            thread::sleep(LOOK);
        }
        panic!("{expression} at {}: {}", self.address(), self.run("return document.body.innerText"));
    }

    /// Waits until a page says that.
    pub(crate) fn until_says(&self, text: &str) {
        self.until(&format!("document.body.innerText.includes({})", json!(text)));
    }

    fn find(&self, selector: &str) -> String {
        let found = self.ask("element", &json!({ "using": "css selector", "value": selector }));
        found[ELEMENT].as_str().unwrap().to_owned()
    }

    /// Clicks on an element: on the one that stands there by then, if it is exchanged meanwhile.
    pub(crate) fn click(&self, selector: &str) {
        for _ in 0..20 {
            let path = format!("/session/{}/element/{}/click", self.session, self.find(selector));
            let answer = self.try_send("POST", &path, &json!({})).unwrap();
            match answer["value"]["error"].as_str() {
                None => return,
                Some("stale element reference") => {}
                Some(error) => panic!("{selector}: {error}"),
            }
        }
        panic!("{selector} does not stay");
    }

    /// Types into a field, behind what is there.
    pub(crate) fn fill_in(&self, selector: &str, text: &str) {
        self.ask(&format!("element/{}/value", self.find(selector)), &json!({ "text": text }));
    }

    /// Presses Tab until an expression holds of what has the focus.
    pub(crate) fn tab_to(&self, expression: &str) {
        for _ in 0..80 {
            self.press(keys::TAB);
            let script =
                format!("try {{ return Boolean({expression}); }} catch (nothing) {{ return false; }}");
            if self.run(&script) == true {
                return;
            }
        }
        panic!("Tab does not lead to {expression} at {}", self.address());
    }

    /// The path of the address, with its query.
    pub(crate) fn path(&self) -> String {
        self.run("return location.pathname + location.search").as_str().unwrap().to_owned()
    }

    pub(crate) fn clear(&self, selector: &str) {
        self.ask(&format!("element/{}/clear", self.find(selector)), &json!({}));
    }

    /// Presses keys one after the other, where the focus is. [`keys`] has those without a letter.
    pub(crate) fn press(&self, keys: &str) {
        let each = keys
            .chars()
            .flat_map(|key| ["keyDown", "keyUp"].map(|kind| json!({ "type": kind, "value": key })));
        self.act(&each.collect::<Vec<_>>());
    }

    /// Presses a key while another one is held.
    pub(crate) fn press_with(&self, held: char, key: char) {
        let all = [("keyDown", held), ("keyDown", key), ("keyUp", key), ("keyUp", held)];
        self.act(&all.map(|(kind, key)| json!({ "type": kind, "value": key })));
    }

    fn act(&self, actions: &[Value]) {
        self.ask("actions", &json!({ "actions": [{ "type": "key", "id": "keyboard", "actions": actions }] }));
    }

    fn devtools(&self, command: &str, parameters: &Value) {
        self.ask("goog/cdp/execute", &json!({ "cmd": command, "params": parameters }));
    }

    /// Looks as on a screen of that width, dark or light.
    pub(crate) fn looks(&self, width: u32, dark: bool) {
        let (height, mobile) = if width < 600 { (844, true) } else { (820, false) };
        let screen = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile });
        self.devtools("Emulation.setDeviceMetricsOverride", &screen);
        let scheme = if dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme },
            { "name": "prefers-reduced-motion", "value": "reduce" }]);
        self.devtools("Emulation.setEmulatedMedia", &json!({ "features": features }));
    }

    /// Makes the screen as high as the page, or as `most` pixels.
    pub(crate) fn grows(&self, width: u32, most: u32) {
        let height = self.run(&format!("return Math.min({most}, document.documentElement.scrollHeight)"));
        let screen =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.devtools("Emulation.setDeviceMetricsOverride", &screen);
    }

    /// Writes what one sees to a file.
    pub(crate) fn picture(&self, file: &Path) {
        let shot = self.send("GET", &format!("/session/{}/screenshot", self.session), &Value::Null);
        fs::write(file, decoded(shot.as_str().unwrap())).unwrap();
    }
}

/// Base64, as pictures come.
fn decoded(text: &str) -> Vec<u8> {
    let six = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b'=').map(six).collect();
    let mut bytes = Vec::with_capacity(text.len());
    for four in digits.chunks(4) {
        let whole = four.iter().fold(0_u32, |sum, six| sum << 6 | u32::from(*six)) << (6 * (4 - four.len()));
        bytes.extend(whole.to_be_bytes().into_iter().skip(1).take(four.len() - 1));
    }
    bytes
}
