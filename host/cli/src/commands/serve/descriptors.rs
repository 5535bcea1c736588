//! How many files the process may have open, of which each connection is one.

/// Open files other than connections and the files of attempts: the store, plugins, pipes.
const RESERVED_FILES: u64 = 256;

/// Raises how many files the process may have open to the most that it may ask for, and returns that.
#[cfg(unix)]
pub(super) fn raise() -> u64 {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    let granted = if setrlimit(Resource::Nofile, raised).is_ok() { limit.maximum } else { limit.current };
    granted.unwrap_or(u64::MAX)
}

#[cfg(not(unix))]
pub(super) fn raise() -> u64 {
    u64::MAX
}

/// How many connections are accepted at once by a process that may have so many files open, and what there is to be said of that. Attempts
/// may have half of these files.
pub(super) fn connections(configured: Option<u32>, usual: usize, open: u64) -> (usize, Option<String>) {
    let fits =
        |files: u64| usize::try_from(files.saturating_sub(RESERVED_FILES).max(1)).unwrap_or(usize::MAX);
    let room = fits(open / 2);
    let Some(wanted) = configured.map(|count| count as usize) else { return (usual.min(room), None) };
    let doubt = (wanted > room).then(|| {
        format!(
            "`connections = {wanted}` under [server]: the process may have {open} files open, of which attempts may take half; more than {room} \
             connections may find none; raise the limit (`ulimit -n`, `LimitNOFILE=`) to {}",
            2 * (wanted as u64 + RESERVED_FILES)
        )
    });
    (wanted.min(fits(open)), doubt)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_configured_is_kept_or_doubted() {
        assert_eq!(connections(None, 16_384, u64::MAX), (16_384, None));
        assert_eq!(connections(None, 16_384, 1024), (256, None));
        assert_eq!(connections(Some(9_000), 16_384, 20_000), (9_000, None));
        let (most, doubt) = connections(Some(12_000), 16_384, 4096);
        assert_eq!(most, 3_840);
        assert!(doubt.is_some_and(|doubt| doubt.contains("to 24512")), "what it needs is said");
    }
}
