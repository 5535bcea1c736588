#!/usr/bin/env node
// Runs the phasm command of the package for this platform, with the same arguments, streams, exit status and signals.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const { name, version, optionalDependencies } = require("../package.json");

function fail(lines) {
  process.stderr.write(`error: ${lines.join("\n  ")}\n`);
  process.exit(2);
}

function findCommand() {
  const platform = `@phasm/${process.platform}-${process.arch}`;
  const known = Object.keys(optionalDependencies);
  if (!known.includes(platform)) {
    fail([
      `there is no phasm package for ${process.platform} on ${process.arch}; there are ${known.join(", ")}`,
      "To build the command for another platform, see host/docs/how-to/install.md of a checkout.",
    ]);
  }
  try {
    return require.resolve(`${platform}/bin/phasm`);
  } catch {
    fail([
      `the package ${platform} ${version}, which has the command for this platform, is not installed`,
      "npm leaves it out with --omit=optional, with a lock file that was made on another platform, and where the C library is not glibc.",
      `Install it with: npm install ${platform}@${version}`,
      `or all again with: npm install --include=optional ${name}@${version}`,
    ]);
  }
}

const child = spawn(findCommand(), process.argv.slice(2), { stdio: "inherit" });

// A terminal sends its signals to both processes; a second SIGINT would end phasm at once.
const hasTerminal = [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY);
const forwarded = ["SIGTERM"];
const fromTerminal = ["SIGINT", "SIGQUIT", "SIGHUP"];
for (const signal of forwarded.concat(fromTerminal)) {
  process.on(signal, () => {
    if (!hasTerminal || forwarded.includes(signal)) child.kill(signal);
  });
}

child.on("error", (error) => fail([`${child.spawnfile} cannot be started: ${error.message}`]));
child.on("exit", (status, signal) => {
  if (signal === null) process.exit(status);
  // This process ends as the command did.
  for (const one of forwarded.concat(fromTerminal)) process.removeAllListeners(one);
  process.kill(process.pid, signal);
  // A signal that does not end a process, or not at once.
  setTimeout(() => process.exit(128 + constants.signals[signal]), 1000);
});
