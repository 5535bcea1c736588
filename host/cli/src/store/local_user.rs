//! The user who runs this command, for the record of who did something.

use phasm::{Requester, SubmitOptions};

/// Names the user by the system's own records. Environment variables such as `USER` say anything.
pub(crate) fn local_user() -> Requester {
    Requester::local(&user::name())
}

/// Returns the options of a submission by the user, with an idempotency key if there is one.
pub(crate) fn local_options(key: Option<&str>) -> SubmitOptions {
    SubmitOptions { key: key.map(Into::into), by: Some(local_user()) }
}

#[cfg(unix)]
mod user {
    use std::{
        fs::File,
        io::{BufRead as _, BufReader, Read as _},
    };

    /// Bytes of the file of users that are read.
    const MAX_BYTES: u64 = 16 << 20;

    /// The name of the user, or the number where the file of users has none.
    pub(super) fn name() -> String {
        let id = rustix::process::getuid().as_raw();
        let file = File::open("/etc/passwd").ok().map(|file| BufReader::new(file.take(MAX_BYTES)));
        let mut lines = file.into_iter().flat_map(|file| file.lines().map_while(Result::ok));
        lines.find_map(|line| name_of(&line, id)).unwrap_or_else(|| id.to_string())
    }

    /// The name on a line `NAME:PASSWORD:ID:…`, if the line is that user's.
    fn name_of(line: &str, id: u32) -> Option<String> {
        let mut fields = line.split(':');
        let name = fields.next().filter(|name| !name.is_empty())?;
        (fields.nth(1)?.parse() == Ok(id)).then(|| name.to_owned())
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_user_is_found_by_number_and_not_by_name() {
            let lines =
                ["root:x:0:0:root:/root:/bin/sh", "ada:x:1000:1000::/home/ada:/bin/sh", "", "x", ":x:7:7"];
            let found = |id| lines.iter().find_map(|line| name_of(line, id));
            assert_eq!((found(0), found(1000)), (Some("root".to_owned()), Some("ada".to_owned())));
            assert_eq!((found(7), found(1), found(1_000_000)), (None, None, None));
        }
    }
}

#[cfg(not(unix))]
mod user {
    /// The name that the system gives to processes of the user.
    pub(super) fn name() -> String {
        std::env::var("USERNAME").ok().filter(|name| !name.is_empty()).unwrap_or_else(|| "unknown".to_owned())
    }
}
