//! Errors of files as guests see them.

use std::io;

use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;

/// Returns the code for guests. A full disk and a quota, also one of the operating system, are named as what they are.
pub(super) fn code_of(error: &io::Error) -> ErrorCode {
    let kind = error.kind();
    if kind == io::ErrorKind::StorageFull {
        ErrorCode::InsufficientSpace
    } else if kind == io::ErrorKind::QuotaExceeded {
        ErrorCode::Quota
    } else {
        error.into()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use rustix::io::Errno;

    use super::*;

    /// R-I19.
    #[test]
    fn no_room_is_not_just_a_failure() {
        let of = |number: Errno| code_of(&io::Error::from_raw_os_error(number.raw_os_error()));
        assert!(matches!(of(Errno::NOSPC), ErrorCode::InsufficientSpace));
        assert!(matches!(of(Errno::DQUOT), ErrorCode::Quota));
        assert!(matches!(code_of(&io::ErrorKind::StorageFull.into()), ErrorCode::InsufficientSpace));
        assert!(matches!(of(Errno::NOENT), ErrorCode::NoEntry));
        assert!(matches!(of(Errno::IO), ErrorCode::Io));
    }
}
