// Runs the program of this name from the package of this platform.
"use strict";
const { spawn } = require("node:child_process");
const os = require("node:os");
const { platforms } = require("../package.json");

module.exports = function run(name) {
  const key = process.platform + "-" + process.arch;
  const from = platforms[key];
  if (!from) {
    console.error(`${name}: there is no build for ${key}, only for ${Object.keys(platforms).join(", ")}`);
    process.exit(1);
  }
  const exe = process.platform === "win32" ? name + ".exe" : name;
  let file;
  try {
    file = require.resolve(`${from}/bin/${exe}`);
  } catch {
    console.error(`${name}: the package ${from} is missing; install again without --omit=optional or --no-optional`);
    process.exit(1);
  }
  const child = spawn(file, process.argv.slice(2), { stdio: "inherit" });
  // A signal to a terminal's group reaches the program by itself: it decides what to do.
  for (const signal of ["SIGINT", "SIGQUIT"]) process.on(signal, () => {});
  for (const signal of ["SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2"]) {
    try {
      process.on(signal, () => child.kill(signal));
    } catch {} // not on Windows
  }
  child.on("error", (error) => {
    console.error(`${name}: ${error.message}`);
    process.exit(1);
  });
  child.on("exit", (code, signal) => process.exit(signal ? 128 + os.constants.signals[signal] : code));
};
