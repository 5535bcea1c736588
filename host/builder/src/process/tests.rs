use std::cell::RefCell;

use super::*;

const LONG: Duration = Duration::from_secs(600);

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

struct Details(RefCell<Vec<String>>);

impl Progress for Details {
    fn step(&self, _: &str) {}
    fn detail(&self, text: &str) {
        self.0.borrow_mut().push(text.to_owned());
    }
}

#[test]
fn both_streams_are_collected_and_diagnostics_heard() {
    let details = Details(RefCell::default());
    let captured =
        capture(&mut shell("echo out; echo ' one' >&2; echo two >&2; exit 3"), LONG, &details).unwrap();
    assert_eq!((captured.stdout.as_str(), captured.stderr.as_str()), ("out\n", " one\ntwo\n"));
    assert_eq!(captured.status.code(), Some(3));
    assert_eq!(*details.0.borrow(), ["one", "two"]);
}

#[test]
fn more_output_than_a_pipe_holds_on_both_streams_does_not_block() {
    let script = "i=0; while [ $i -lt 3000 ]; do echo 0123456789012345678901234567890123456789; echo x >&2; \
                  i=$((i+1)); done; head -c 200000 /dev/zero >&2; head -c 200000 /dev/zero";
    let captured = capture(&mut shell(script), LONG, &|_: &str| ()).unwrap();
    assert_eq!(captured.stdout.len(), 3000 * 41 + 200_000);
    assert_eq!(captured.stderr.len(), 3000 * 2 + 200_000 + 1);
}

#[test]
fn failures_name_the_command_and_its_words() {
    let failed = run(&mut shell("echo broken >&2; exit 7"), LONG, &|_: &str| ()).unwrap_err().to_string();
    assert!(failed.contains("exit status: 7") && failed.ends_with("broken"), "{failed}");
    let missing = query(&mut Command::new("phasm-no-such-tool")).unwrap_err();
    assert!(matches!(&missing, ProcessError::Missing { tool } if tool == "phasm-no-such-tool"), "{missing}");
    assert_eq!(
        super::missing(&["phasm-no-such-tool", "sh", "phasm-nor-this"]),
        ["phasm-no-such-tool", "phasm-nor-this"]
    );
}

#[test]
fn a_pipe_needs_both_ends_to_succeed() {
    let piped = |producer, consumer| pipe(&mut shell(producer), &mut shell(consumer), LONG, &|_: &str| ());
    piped("echo words", "read line && test \"$line\" = words").unwrap();
    for (producer, consumer, failed) in [
        ("echo a; exit 4", "cat", "status: 4"),
        ("yes", "exit 5", "status: 5"),
        ("true", "exit 6", "status: 6"),
    ] {
        let message = piped(producer, consumer).unwrap_err().to_string();
        assert!(message.contains(failed), "{message}");
    }
    let nobody = pipe(&mut shell("yes"), &mut Command::new("phasm-no-such-tool"), LONG, &|_: &str| ());
    assert!(matches!(nobody, Err(ProcessError::Missing { .. })));
}

#[test]
fn what_takes_too_long_is_stopped() {
    let stopped = run(&mut shell("exec sleep 1000"), Duration::ZERO, &|_: &str| ()).unwrap_err();
    assert!(matches!(stopped, ProcessError::TimedOut { .. }), "{stopped}");
}

#[test]
fn only_executable_files_count_as_programs() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("plain"), "").unwrap();
    fs::create_dir(dir.path().join("folder")).unwrap();
    let path = env::join_paths([dir.path(), Path::new("/bin"), Path::new("/usr/bin")]).unwrap();
    assert_eq!(which_in("plain", &path), None);
    assert_eq!(which_in("folder", &path), None);
    assert!(which_in("sh", &path).is_some());
}
