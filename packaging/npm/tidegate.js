#!/usr/bin/env node
// Starts the program of the package for this platform. Hooks do not come through here: `tidegate init` registers the program itself.
"use strict";

const { spawnSync } = require("node:child_process");
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

// Ctrl-C goes to the program, too, which ends by its own rules.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});

const ended = spawnSync(program, process.argv.slice(2), { stdio: "inherit" });
if (ended.error) {
  console.error(`error: cannot start ${program}: ${ended.error.message}`);
  process.exit(1);
}
process.exit(ended.status ?? 128 + (constants.signals[ended.signal] ?? 0));
