// Runs one of the project's commands under its own Node.js: `node scripts/run.mjs start|test|check|reset|format|bench|openapi|references|console|screenshots|page-speed|tollgate|images|sbom|audit|upgrade-from|stripe-account`.
// This file and install.mjs are plain JavaScript, since the machine's Node.js (20 or newer) runs them.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { delimiter, join } from 'node:path';
import { setInterval } from 'node:timers';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const bin = join(root, 'node_modules/.bin');

const COMMANDS = {
  start: ['scripts/start.ts'],
  reset: ['scripts/reset.ts'],
  test: ['scripts/test.ts'],
  check: ['scripts/check.ts'],
  bench: ['bench/src/bench.ts'],
  openapi: ['scripts/openapi.ts'],
  references: ['scripts/references/write-references.ts'],
  console: ['packages/console/node_modules/vite/bin/vite.js', 'packages/console'],
  screenshots: ['e2e/src/browser/screenshots.ts'],
  'page-speed': ['e2e/src/browser/page-speed.ts'],
  tollgate: ['tools/command/src/tollgate.ts'],
  images: ['tools/images/src/build-images.ts'],
  sbom: ['tools/images/src/bill/bills.ts'],
  audit: ['scripts/audit/audit.ts'],
  'upgrade-from': ['e2e/src/upgrade/upgrade-from.ts'],
  'stripe-account': ['scripts/stripe-account.ts'],
  format: ['node_modules/prettier/bin/prettier.cjs', '--write', '--log-level=warn', '.'],
};

const [name, ...args] = process.argv.slice(2);
const command = COMMANDS[name];
if (command === undefined) {
  fail(`Usage: node scripts/run.mjs ${Object.keys(COMMANDS).join('|')}`);
} else if (Number(process.versions.node.split('.')[0]) < 20) {
  fail(`Tollgate needs Node.js 20 or newer; this one is ${process.versions.node} (${process.execPath}).`);
} else {
  const { install } = await import('./install.mjs');
  if (await install(root)) run([...command, ...args]);
  else process.exitCode = 1;
}

/** Runs a program of ours to its end and ends like it. */
function run(programAndArgs) {
  const child = spawn(join(bin, 'node'), programAndArgs, {
    cwd: root,
    // The channel tells the program at once when this process is killed.
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: {
      // Compiling hundreds of TypeScript files is half of what starting a service costs.
      NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/node'),
      ...process.env,
      PATH: [bin, process.env.PATH].join(delimiter),
    },
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  endWithNpm(child);
  child.on('error', (error) => fail(`The pinned Node.js could not be started: ${error.message}`));
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}

/**
 * npm that is killed with SIGKILL can't pass it on, and what it started would keep running. It passes other
 * signals to its child, which is this process and no shell thanks to the `exec` in package.json.
 */
function endWithNpm(child) {
  if (process.env.npm_lifecycle_event === undefined) return;
  const npm = process.ppid;
  setInterval(() => {
    if (process.ppid !== npm) child.kill('SIGTERM');
  }, 200).unref();
}

function fail(message) {
  console.error(message);
  process.exitCode = 1;
}
