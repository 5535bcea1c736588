//! Root file system in which the command runs, in name spaces of its own, as a container engine would run it.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    thread,
    time::Instant,
};

use rustix::process::{Pid, Signal, kill_process};

use super::{LIMIT, PAUSE, containerfile::Image, keeper::Keeper};
use crate::{DistResult, run};

/// Something at a path of the pod.
pub(super) enum Mount {
    /// Folder or file of this machine.
    Bind { from: PathBuf, to: String, read_only: bool },
    /// Empty folder in memory, with options.
    Memory { to: String, options: String },
}

/// How a pod is made.
pub(super) struct PodPlan {
    pub(super) root: PathBuf,
    pub(super) is_read_only: bool,
    pub(super) mounts: Vec<Mount>,
    pub(super) environment: Vec<(String, String)>,
    pub(super) user: (u32, u32),
}

/// Pod. Its name spaces end with it.
pub(super) struct Pod {
    plan: PodPlan,
    program: String,
    keeper: Keeper,
}

impl Pod {
    /// Makes the name spaces and mounts.
    pub(super) fn start(plan: PodPlan, image: &Image) -> DistResult<Self> {
        let keeper = Keeper::start(&["--mount", "--net"], &plan.script()?)?;
        Ok(Self { plan, program: image.program().to_owned(), keeper })
    }

    pub(super) fn keeper(&self) -> &Keeper {
        &self.keeper
    }

    fn enter(&self, arguments: &[String]) -> Command {
        let PodPlan { root, environment, user: (user, group), .. } = &self.plan;
        let mut command = Command::new("nsenter");
        command.env_clear().envs(environment.iter().map(|(name, value)| (name, value)));
        command.env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        command.arg(format!("--target={}", self.keeper.id())).args(["--mount", "--net", "chroot"]);
        command.arg(format!("--userspec={user}:{group}")).arg(format!("--groups={group}")).arg(root);
        command.arg(&self.program).args(arguments).stdin(Stdio::null());
        command
    }

    /// Runs the command, with a key and an input if they are given.
    pub(super) fn output(&self, arguments: &[String], input: Option<(&str, File)>) -> DistResult<Output> {
        let mut command = self.enter(arguments);
        if let Some((key, input)) = input {
            command.env("PHASM_KEY", key).stdin(input);
        }
        Ok(command.output()?)
    }

    /// Runs the command, and returns what it prints. Its failure is an error.
    pub(super) fn run(&self, arguments: &[String], input: Option<(&str, File)>) -> DistResult<String> {
        let output = self.output(arguments, input)?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        Err(format!("{arguments:?}: {output:?}").into())
    }

    /// Starts the command, whose output goes to a file.
    pub(super) fn spawn(&self, arguments: &[String], log: &Path) -> DistResult<Running> {
        let log = File::create(log)?;
        let mut command = self.enter(arguments);
        Ok(Running(command.stdout(log.try_clone()?).stderr(log).spawn()?))
    }

    /// Asks the server for a path, as a probe by HTTP does.
    pub(super) fn get(&self, path: &str) -> DistResult {
        let ask = "import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=5)";
        let mut python = self.keeper.in_network();
        run(python.args(["python3", "-c", ask]).arg(format!("http://127.0.0.1:8484{path}"))).map(drop)
    }
}

impl PodPlan {
    /// Commands that make the mounts; the folders and files that they hide are made here, as engines do.
    fn script(&self) -> DistResult<String> {
        let root = self.root.display();
        let mut script = format!("mount --bind '{root}' '{root}'\n");
        for name in ["proc", "dev"] {
            fs::create_dir_all(self.root.join(name))?;
            script += &format!("mount --rbind /{name} '{root}/{name}'\n");
        }
        for mount in &self.mounts {
            let (Mount::Bind { to, .. } | Mount::Memory { to, .. }) = mount;
            let target = self.root.join(to.trim_start_matches('/'));
            let shown = target.display();
            match mount {
                Mount::Bind { from, read_only, .. } => {
                    if from.is_dir() {
                        fs::create_dir_all(&target)?;
                    } else {
                        fs::create_dir_all(target.parent().ok_or("a mount at the root")?)?;
                        fs::write(&target, "")?;
                    }
                    script += &format!("mount --bind '{}' '{shown}'\n", from.display());
                    if *read_only {
                        script += &format!("mount -o remount,bind,ro '{shown}'\n");
                    }
                }
                Mount::Memory { options, .. } => {
                    fs::create_dir_all(&target)?;
                    script += &format!("mount -t tmpfs -o '{options}' none '{shown}'\n");
                }
            }
        }
        if self.is_read_only {
            script += &format!("mount -o remount,bind,ro '{root}'\n");
        }
        Ok(script)
    }
}

/// Command that runs.
pub(super) struct Running(Child);

impl Running {
    /// Kills the command, as a machine that fails would.
    pub(super) fn kill(&mut self) -> DistResult {
        self.0.kill()?;
        self.0.wait()?;
        Ok(())
    }

    /// Sends a signal, and waits until the command has ended by it.
    pub(super) fn end(&mut self, signal: Signal) -> DistResult {
        if self.0.try_wait()?.is_none() {
            kill_process(Pid::from_child(&self.0), signal)?;
        }
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.0.try_wait()? {
                break status;
            }
            if start.elapsed() > LIMIT {
                self.0.kill()?;
            }
            thread::sleep(PAUSE);
        };
        let expected = 128 + signal.as_raw();
        if status.code() == Some(expected) {
            Ok(())
        } else {
            Err(format!("the server: expected status {expected}, found {status}").into())
        }
    }
}
