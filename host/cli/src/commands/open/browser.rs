//! The user's browser.

use std::{
    process::{Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use super::{KEY, paths::set};

/// Command that opens an address with the system's browser.
const OPENERS: [&str; 2] = ["xdg-open", "open"];
/// A program that is still there after so long shows something.
const START_TIMEOUT: Duration = Duration::from_secs(3);

/// Shows an address; false if nothing could be started that would.
pub(super) fn show(address: &str) -> bool {
    let named = set("BROWSER").map(|named| named.to_string_lossy().into_owned()).unwrap_or_default();
    for words in named.split(':').filter_map(|one| called(one, address)) {
        if starts(&words) {
            return true;
        }
    }
    if !named.is_empty() || !has_screen() {
        return false;
    }
    for opener in OPENERS {
        if starts(&[opener.to_owned(), address.to_owned()]) {
            return true;
        }
    }
    false
}

/// Whether there is a screen that a browser could be shown on.
fn has_screen() -> bool {
    !cfg!(target_os = "linux") || ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| set(name).is_some())
}

/// The words that a browser of `BROWSER` is called with: the address where it says `%s`, else at the end.
fn called(named: &str, address: &str) -> Option<Vec<String>> {
    let mut words: Vec<_> = named.split_whitespace().map(|word| word.replace("%s", address)).collect();
    if words.is_empty() {
        return None;
    }
    if !named.contains("%s") {
        words.push(address.to_owned());
    }
    Some(words)
}

/// Whether it was started, and did not fail at once.
fn starts(words: &[String]) -> bool {
    let Some((program, rest)) = words.split_first() else { return false };
    let mut command = Command::new(program);
    command.args(rest).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // A key is nothing that a browser has to know.
    command.env_remove(KEY);
    let Ok(mut child) = command.spawn() else { return false };
    let (ended, end) = mpsc::channel();
    thread::spawn(move || drop(ended.send(child.wait())));
    match end.recv_timeout(START_TIMEOUT) {
        Ok(status) => status.is_ok_and(|status| status.success()),
        Err(_still_there) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_is_called_as_it_is_named() {
        let called = |named: &str| called(named, "http://x/").map(|words| words.join(" "));
        assert_eq!(called("firefox").as_deref(), Some("firefox http://x/"));
        assert_eq!(called("b --new %s --on").as_deref(), Some("b --new http://x/ --on"));
        assert_eq!(called(" "), None);
    }
}
