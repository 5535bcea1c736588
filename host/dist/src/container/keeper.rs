//! Name spaces that last as long as a shell in them waits for input.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, Command, Stdio},
};

use crate::{DistResult, run};

/// Process that keeps name spaces, which end with it.
pub(super) struct Keeper {
    shell: Child,
    /// Open as long as the shell waits.
    input: Option<ChildStdin>,
}

impl Keeper {
    /// Makes name spaces of these kinds, and runs a script in them.
    pub(super) fn start(kinds: &[&str], script: &str) -> DistResult<Self> {
        let mut unshare = Command::new("unshare");
        unshare.args(kinds).args(["sh", "-eu"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut shell = unshare.spawn().map_err(|error| format!("unshare: {error}"))?;
        let (input, output) = (shell.stdin.take(), shell.stdout.take());
        let mut keeper = Self { shell, input };
        let input = keeper.input.as_mut().ok_or("no input of unshare")?;
        writeln!(input, "ip link set lo up\n{script}\necho ready")?;
        let mut said = String::new();
        BufReader::new(output.ok_or("no output of unshare")?).read_line(&mut said)?;
        if said.trim() == "ready" {
            Ok(keeper)
        } else {
            Err(format!("name spaces, mounts and links need root, and {kinds:?} were refused:\n{script}")
                .into())
        }
    }

    /// Process whose name spaces these are.
    pub(super) fn id(&self) -> u32 {
        self.shell.id()
    }

    /// Command that runs another one in the network of these name spaces.
    pub(super) fn in_network(&self) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--target={}", self.id())).arg("--net");
        command
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.shell.wait();
    }
}

/// Network of several name spaces, which nothing outside is part of.
pub(super) struct Network {
    bridge: Keeper,
    count: u8,
}

impl Network {
    pub(super) fn start() -> DistResult<Self> {
        let bridge = Keeper::start(&["--net"], "ip link add bridge type bridge\nip link set bridge up")?;
        Ok(Self { bridge, count: 0 })
    }

    /// Adds name spaces, and returns their address.
    pub(super) fn join(&mut self, member: &Keeper) -> DistResult<String> {
        self.count += 1;
        let (link, address) = (format!("link{}", self.count), format!("10.77.0.{}", self.count));
        let (bridge, member_id) = (self.bridge.id().to_string(), member.id().to_string());
        let peer = ["type", "veth", "peer", "name", "eth0", "netns", &member_id];
        run(Command::new("ip").args(["link", "add", "name", &link, "netns", &bridge]).args(peer))?;
        run(self.bridge.in_network().args(["ip", "link", "set", &link, "master", "bridge", "up"]))?;
        run(member.in_network().args(["ip", "address", "add", &format!("{address}/24"), "dev", "eth0"]))?;
        run(member.in_network().args(["ip", "link", "set", "eth0", "up"]))?;
        Ok(address)
    }
}
