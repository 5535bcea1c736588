//! Prints the figures of the code base: `cargo run -p phasm-tidy [-- [--root DIR] [--all | WORD]]`.
//!
//! `--all` lists the places that are counted, a word those of the figures whose name holds it. `--root` counts another checkout.

use std::{
    env,
    io::{self, Write},
    path::PathBuf,
};

use phasm_tidy::{figures::figures, source::root};

fn main() -> io::Result<()> {
    let mut arguments: Vec<String> = env::args().skip(1).collect();
    let mut root = root();
    if arguments.first().is_some_and(|first| first == "--root") && arguments.len() > 1 {
        root = arguments.drain(..2).nth(1).map_or(root, PathBuf::from);
    }
    let word = arguments.first().map(String::as_str);
    let mut out = io::stdout().lock();
    for figure in figures(&root)? {
        writeln!(out, "{:6}  {}", figure.places.len(), figure.name)?;
        let is_asked = word.is_some_and(|word| word == "--all" || figure.name.contains(word));
        for place in figure.places.iter().filter(|_| is_asked) {
            writeln!(out, "        {place}")?;
        }
    }
    Ok(())
}
