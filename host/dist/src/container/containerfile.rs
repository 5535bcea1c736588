//! Containerfile: the last stage, as far as this one uses the language.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use rustix::process::Signal;

use super::{folder_of, signal};
use crate::{DistResult, run};

/// Folder of the build stage that `phasm-dist image` lays out.
const LAID: &str = "/image/";

/// Image, as the last stage describes it.
pub(super) struct Image {
    copies: Vec<CopyLine>,
    pub(super) environment: Vec<(String, String)>,
    pub(super) volumes: Vec<String>,
    /// User and group.
    pub(super) user: (u32, u32),
    pub(super) stop_signal: Signal,
    /// Command of the health check.
    pub(super) health: Vec<String>,
    entrypoint: Vec<String>,
    /// Arguments of the entry point.
    pub(super) command: Vec<String>,
}

/// `COPY --from=build [--chown=USER:GROUP] FROM TO`.
struct CopyLine {
    from: PathBuf,
    to: PathBuf,
    owner: Option<String>,
}

impl Image {
    /// Reads the Containerfile.
    pub(super) fn read() -> DistResult<Self> {
        let path = folder_of("container/Containerfile");
        let text = fs::read_to_string(&path)?;
        Self::parse(&text).map_err(|error| format!("{}: {error}", path.display()).into())
    }

    fn parse(text: &str) -> DistResult<Self> {
        let lines = instructions(text);
        let start = lines.iter().rposition(|(word, _)| word == "FROM").ok_or("no FROM")?;
        let (build, last) = lines.split_at(start);
        let lays = |rest: &str| {
            rest.contains(" -p phasm-dist -- image ") && rest.ends_with(LAID.trim_end_matches('/'))
        };
        if !build.iter().any(|(word, rest)| word == "RUN" && lays(rest)) {
            return Err(
                format!("expected a RUN of `phasm-dist image` into {LAID} before the last stage").into()
            );
        }
        let mut image = Self {
            copies: Vec::new(),
            environment: Vec::new(),
            volumes: Vec::new(),
            user: (0, 0),
            stop_signal: Signal::KILL,
            health: Vec::new(),
            entrypoint: Vec::new(),
            command: Vec::new(),
        };
        for (word, rest) in last {
            image.take(word, rest).map_err(|error| format!("{word} {rest}: {error}"))?;
        }
        image.complete()
    }

    fn take(&mut self, word: &str, rest: &str) -> DistResult {
        match word {
            "FROM" if rest == "scratch" => {}
            "ARG" | "EXPOSE" | "LABEL" => {}
            "COPY" => self.copies.push(CopyLine::parse(rest)?),
            "ENV" => {
                for pair in rest.split_whitespace() {
                    let (name, value) = pair.split_once('=').ok_or("expected NAME=VALUE")?;
                    self.environment.push((name.to_owned(), value.to_owned()));
                }
            }
            "VOLUME" => self.volumes.push(rest.to_owned()),
            "USER" => {
                let (user, group) = rest.split_once(':').ok_or("expected USER:GROUP in numbers")?;
                self.user = (user.parse()?, group.parse()?);
            }
            "STOPSIGNAL" => self.stop_signal = signal(rest)?,
            "HEALTHCHECK" => {
                let (_, command) = rest.split_once("CMD ").ok_or("expected CMD [\"COMMAND\", …]")?;
                self.health = serde_json::from_str(command)?;
            }
            "ENTRYPOINT" => self.entrypoint = serde_json::from_str(rest)?,
            "CMD" => self.command = serde_json::from_str(rest)?,
            _ => return Err("expected an instruction that the test of the image carries out".into()),
        }
        Ok(())
    }

    /// Checks that nothing is missing.
    fn complete(self) -> DistResult<Self> {
        if self.user.0 == 0 || self.user.1 == 0 {
            return Err("expected a USER other than 0".into());
        }
        let command = &self.entrypoint;
        if command.as_slice() != ["/usr/bin/phasm"] || self.health.first() != command.first() {
            return Err("expected /usr/bin/phasm as ENTRYPOINT, and in HEALTHCHECK".into());
        }
        if self.stop_signal == Signal::KILL || self.command.is_empty() || self.copies.is_empty() {
            return Err("expected COPY, STOPSIGNAL and CMD".into());
        }
        Ok(self)
    }

    /// Makes the root file system in `root` of the files that were laid out.
    pub(super) fn assemble(&self, laid: &Path, root: &Path) -> DistResult {
        fs::create_dir_all(root)?;
        for CopyLine { from, to, owner } in &self.copies {
            let to = root.join(to.strip_prefix("/")?);
            fs::create_dir_all(&to)?;
            let owner = owner.as_deref().unwrap_or("0:0");
            let copied = laid.join(from).join(".");
            run(Command::new("cp").args(["-a", "--no-preserve=ownership"]).arg(copied).arg(&to))?;
            run(Command::new("chown").args(["-R", owner]).arg(&to))?;
        }
        Ok(())
    }

    /// Program that the image starts.
    pub(super) fn program(&self) -> &str {
        self.entrypoint.first().map_or("", String::as_str)
    }
}

impl CopyLine {
    fn parse(rest: &str) -> DistResult<Self> {
        let (mut owner, mut paths, mut stage) = (None, Vec::new(), None);
        for word in rest.split_whitespace() {
            if let Some(from) = word.strip_prefix("--from=") {
                stage = Some(from);
            } else if let Some(named) = word.strip_prefix("--chown=") {
                owner = Some(named.to_owned());
            } else {
                paths.push(word);
            }
        }
        let [from, to] = paths.as_slice() else { return Err("expected one source and one target".into()) };
        let from = from.strip_prefix(LAID).filter(|_| stage == Some("build"));
        let from = from.ok_or_else(|| format!("expected a folder in {LAID} of the stage `build`"))?;
        Ok(Self { from: from.into(), to: to.into(), owner })
    }
}

/// The instructions with what is behind each, without comments; a line that ends with `\` goes on in the next.
fn instructions(text: &str) -> Vec<(String, String)> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let whole = lines.join("\n").replace("\\\n", " ");
    let whole = whole.lines().filter_map(|line| line.trim().split_once(' '));
    whole.map(|(word, rest)| (word.to_owned(), rest.trim().to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-L63: the image has a user of its own, a health check and a signal to end it; other users have nothing to write.
    #[test]
    fn the_image_is_described_in_full() {
        let image = Image::read().unwrap();
        assert_eq!(image.user, (10001, 10001));
        assert_eq!(image.health.get(1).map(String::as_str), Some("health"));
        assert_eq!(image.command.first().map(String::as_str), Some("serve"));
        assert_eq!(image.stop_signal, Signal::TERM);
        assert_eq!(image.volumes, ["/var/lib/phasm"]);
        assert_eq!(image.program(), "/usr/bin/phasm");
    }

    /// R-L63: the version in the image is that of the command, and its executors are built as `phasm plugin build` does.
    #[test]
    fn the_image_is_built_as_the_command_says() {
        let text = fs::read_to_string(folder_of("container/Containerfile")).unwrap();
        assert!(text.contains(&format!("image.version=\"{}\"", crate::VERSION)));
        let builder = fs::read_to_string(crate::root().join("host/builder/src/cargo.rs")).unwrap();
        let flags = builder.split("const LINKER_FLAGS: &str = \"").nth(1).unwrap().split('"').next().unwrap();
        assert!(text.contains(&format!("CARGO_BUILD_RUSTFLAGS=\"{flags}\"")), "{flags}");
    }

    /// R-L63: an instruction that the test of the image does not carry out is an error, and so is what is missing.
    #[test]
    fn what_is_not_carried_out_is_refused() {
        let text = fs::read_to_string(folder_of("container/Containerfile")).unwrap();
        assert!(Image::parse(&text).is_ok());
        for (from, to) in [
            ("USER 10001:10001", "USER 0:0"),
            ("USER 10001:10001", "RUN chmod 777 /"),
            ("STOPSIGNAL SIGTERM", "STOPSIGNAL SIGKILL"),
            ("FROM scratch", "FROM debian"),
            ("/image/data/", "/elsewhere/"),
            ("-- image ", "-- packages "),
            ("HEALTHCHECK", "ONBUILD"),
        ] {
            assert!(text.contains(from), "{from}");
            assert!(Image::parse(&text.replace(from, to)).is_err(), "{to}");
        }
    }
}
