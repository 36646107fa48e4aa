import { spawn } from 'node:child_process';
import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { identityOf, signalProcess } from './process-identity.ts';
import type { ProcessIdentity } from './process-identity.ts';

export type Exit = { code: number | null; signal: NodeJS.Signals | null };

export type ManagedProcess = {
  name: string;
  identity: ProcessIdentity;
  logFile: string;
  exited: Promise<Exit>;
  hasExited: () => boolean;
  /** SIGKILL follows after timeLimitMs. Can be called again. */
  stop: (options?: StopOptions) => Promise<Exit>;
};

export type StopOptions = { signal?: NodeJS.Signals; timeLimitMs?: number };

/** Called before anything waits for the process, so that a killed launcher leaves no orphan. */
export type OnSpawn = (spawned: ManagedProcess) => void;

export type ProcessOptions = {
  name: string;
  command: string;
  args: readonly string[];
  /** Nothing is inherited. */
  env: Readonly<Record<string, string | undefined>>;
  /** Takes stdout and stderr; appended to, created with mode 0600. */
  logFile: string;
  cwd?: string;
  input?: string;
  user?: { uid: number; gid: number } | undefined;
  onSpawn?: OnSpawn | undefined;
};

/**
 * In its own session: a terminal's Ctrl-C reaches only the launcher, which stops its processes in order.
 * @throws {Error} if it can't be started, for instance because the file doesn't exist
 */
export async function startProcess(options: ProcessOptions): Promise<ManagedProcess> {
  const log = openSync(options.logFile, 'a', 0o600);
  let child: ChildProcess;
  try {
    child = spawn(options.command, options.args, spawnOptions(options, log, log));
  } finally {
    closeSync(log);
  }
  return await manageProcess(child, options);
}

/** @throws {Error} with the log's last lines on any exit code but 0 */
export async function runCommand(options: ProcessOptions): Promise<string> {
  const log = openSync(options.logFile, 'a', 0o600);
  let child: ChildProcess;
  try {
    child = spawn(options.command, options.args, spawnOptions(options, 'pipe', log));
  } finally {
    closeSync(log);
  }
  let output = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  const closed = new Promise((resolve) => child.once('close', resolve));
  const command = await manageProcess(child, options);
  const exit = await command.exited;
  await closed;
  if (exit.code !== 0) {
    throw new Error(`${options.name} ended with ${describeExit(exit)}.\n${logTail(options.logFile)}`);
  }
  return output;
}

export function describeExit({ code, signal }: Exit): string {
  return signal === null ? `exit code ${String(code)}` : `signal ${signal}`;
}

export function logTail(logFile: string): string {
  try {
    return `The last lines of ${logFile}:\n${lastLines(readFileSync(logFile, 'utf8'))}`;
  } catch {
    return `There is no log in ${logFile}.`;
  }
}

/** Indented. */
export function lastLines(text: string, lines = 15): string {
  const last = text.trimEnd().split('\n').slice(-lines);
  return last.map((line) => `  ${line}`).join('\n');
}

function spawnOptions(
  { env, cwd, user, input }: ProcessOptions,
  stdout: number | 'pipe',
  stderr: number,
): SpawnOptions {
  return {
    detached: true,
    stdio: [input === undefined ? 'ignore' : 'pipe', stdout, stderr],
    env: { ...env },
    ...(cwd === undefined ? {} : { cwd }),
    ...user,
  };
}

/** @throws {Error} if it can't be started */
export async function manageProcess(
  child: ChildProcess,
  options: Pick<ProcessOptions, 'name' | 'logFile' | 'input' | 'onSpawn'>,
): Promise<ManagedProcess> {
  const { name, logFile } = options;
  let exit: Exit | undefined;
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => {
      resolve((exit = { code, signal }));
    });
  });
  const failed = new Promise<never>((_resolve, reject) => {
    child.once('error', (error) => {
      reject(new Error(`${name} could not be started: ${error.message}`, { cause: error }));
    });
  });
  // A process that ends before it has read its input is judged by its exit, not by the broken pipe.
  child.stdin?.on('error', () => undefined).end(options.input ?? '');
  const { pid } = child;
  if (pid === undefined) return await failed;
  failed.catch(() => undefined);

  const managed: ManagedProcess = {
    name,
    logFile,
    exited,
    identity: identityOf(pid) ?? { pid, startTime: 'ended at once' },
    hasExited: () => exit !== undefined,
    stop: async ({ signal = 'SIGTERM', timeLimitMs = 10_000 } = {}) => {
      if (exit !== undefined) return exit;
      signalProcess(pid, signal);
      const timer = new AbortController();
      const late = delay(timeLimitMs, 'late' as const, { signal: timer.signal }).catch(() => 'late' as const);
      if ((await Promise.race([exited, late])) === 'late') signalProcess(-pid, 'SIGKILL');
      timer.abort();
      return await exited;
    },
  };
  options.onSpawn?.(managed);
  return managed;
}
