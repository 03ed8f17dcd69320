#!/usr/bin/env node
// Starts the program of the package for this platform. Hooks do not come through here: `tidegate init` registers the program itself.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const name = `tidegate-${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "tidegate.exe" : "tidegate";

let program;
try {
  program = require.resolve(`${name}/bin/${file}`);
} catch {
  console.error(`error: there is no package ${name} next to tidegate`);
  console.error("hint: install again without --omit=optional; on another platform, build it from source");
  process.exit(1);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// The program ends by its own rules. In a terminal Ctrl-C reaches it anyway.
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
process.on("SIGINT", () => {});
child.on("error", (error) => {
  console.error(`error: cannot start ${program}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (status, signal) => process.exit(status ?? 128 + (constants.signals[signal] ?? 0)));
