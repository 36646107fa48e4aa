import { execFile, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '@tollgate/stack/ports';
import { manageProcess } from '@tollgate/stack/process';
import { waitFor } from '@tollgate/stack/wait-for';
import { goEnvironment, runDirectory } from '../config.ts';
import { newDirectory, register } from '../run.ts';

/** The judges of the sample payment server, none of which we wrote (docs/design/payments.md). */
const STRIPE_MOCK = 'github.com/stripe/stripe-mock@v0.203.0';
const PROJECT = resolve(import.meta.dirname, '../../../..');
const PROGRAMS = join(PROJECT, '.tollgate/judges');
const STRIPE_CLI_VERSION = '1.52.0';

const run = promisify(execFile);

/** `document`: the path of Stripe's OpenAPI document, which lies in the module of stripe-mock. */
export type StripeMock = { url: string; document: string };

let running: { mock: StripeMock; hasExited: () => boolean } | undefined;

/**
 * Null where Go or its module isn't to be had, which is printed. It keeps nothing of what it is asked, and takes more
 * than a second of CPU time to start: a worker's suites share one, which ends with the run.
 */
export async function startStripeMock(): Promise<StripeMock | null> {
  if (running?.hasExited() === false) return running.mock;
  const installed = await leftOut('stripe-mock', installStripeMock);
  if (installed === null) return null;
  const [port, httpsPort] = [String(await freePort()), String(await freePort())];
  const url = `http://127.0.0.1:${port}`;
  const logFile = join(newDirectory(runDirectory(), 'stripe-mock'), 'log');
  const log = openSync(logFile, 'a', 0o600);
  // Without an address of its own, HTTPS listens on all interfaces.
  const args = ['-http-addr', `127.0.0.1:${port}`, '-https-addr', `127.0.0.1:${httpsPort}`];
  const child = spawn(installed.program, args, { detached: true, stdio: ['ignore', log, log], env: {} });
  closeSync(log);
  const options = { name: 'stripe-mock', logFile, onSpawn: register(runDirectory()) };
  const { hasExited } = await manageProcess(child, options);
  // The worker ends before it does.
  child.unref();
  const answers = () =>
    fetch(url).then(
      () => true,
      () => false,
    );
  await waitFor(answers, { what: 'stripe-mock to answer' });
  running = { mock: { url, document: installed.document }, hasExited };
  return running.mock;
}

/** Before several suites do so at the same time: compiling it takes half a minute of a core. */
export async function installJudges(): Promise<void> {
  await leftOut('stripe-mock', installStripeMock);
}

async function installStripeMock(): Promise<{ program: string; document: string }> {
  const [module = '', version = ''] = STRIPE_MOCK.split('@');
  const directory = join(PROGRAMS, `stripe-mock-${version}`);
  const program = join(directory, 'stripe-mock');
  if (!existsSync(program)) {
    await run('go', ['install', STRIPE_MOCK], { env: goEnvironment(directory) });
  }
  const { stdout } = await run('go', ['env', 'GOMODCACHE']);
  const document = join(stdout.trim(), `${module}@${version}`, 'embedded/openapi/spec3.json');
  return { program, document };
}

/** Stripe's command line, from its own npm package, which ships the program; null where it can't be installed. */
export async function installStripeCli(): Promise<string | null> {
  return leftOut('the Stripe CLI', async () => {
    const name = `@stripe/cli-${process.platform}-${process.arch}`;
    const directory = join(PROGRAMS, `stripe-cli-${STRIPE_CLI_VERSION}`);
    const program = join(directory, 'node_modules', name, 'bin/stripe');
    if (!existsSync(program)) {
      const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-save', '--prefix', directory];
      await run('npm', ['install', ...options, `${name}@${STRIPE_CLI_VERSION}`]);
    }
    return program;
  });
}

async function leftOut<T>(name: string, install: () => Promise<T>): Promise<T | null> {
  try {
    return await install();
  } catch (error) {
    // An error of another realm than Jest's is no instance of Error.
    const [reason = ''] = String(error).split('\n', 1);
    process.stderr.write(`Left out: ${name} can't be installed (${reason}).\n`);
    return null;
  }
}
