//! Architecture that a command is built for.

use std::{env::consts::ARCH, fs::File, io::Read as _, path::Path};

use crate::DistResult;

/// Bytes of the header of an ELF file up to the machine.
const HEADER: usize = 20;

/// Returns the architecture that `binary` is for, as Rust names it.
pub(crate) fn architecture(binary: &Path) -> DistResult<&'static str> {
    let mut header = [0; HEADER];
    let read = File::open(binary).and_then(|mut file| file.read_exact(&mut header));
    read.map_err(|error| format!("{}: {error}", binary.display()))?;
    match header {
        [0x7f, b'E', b'L', b'F', .., 62, 0] => Ok("x86_64"),
        [0x7f, b'E', b'L', b'F', .., 183, 0] => Ok("aarch64"),
        _ => Err(format!("{}: expected a program for Linux on x86-64 or aarch64", binary.display()).into()),
    }
}

/// True if this machine runs programs for `architecture`, and its tools change them.
pub(crate) fn is_here(architecture: &str) -> bool {
    architecture == ARCH
}

#[cfg(test)]
mod tests {
    use std::env;

    use super::*;

    /// R-L73: packages are named after the architecture of their command.
    #[test]
    fn the_architecture_of_this_program_is_read() {
        assert_eq!(architecture(&env::current_exe().unwrap()).unwrap(), ARCH);
        assert!(is_here(ARCH));
        assert!(architecture(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))).is_err());
    }
}
