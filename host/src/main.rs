//! The `phasm` command.

mod cli;

/// Runs make and drop many small things of one size; glibc's allocator costs a run of 100 000 tasks a third of the engine's
/// time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    cli::main()
}
