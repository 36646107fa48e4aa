import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { freePort } from '@tollgate/stack/ports';
import { waitFor } from '@tollgate/stack/wait-for';
import type { Demo } from './demo.ts';
import { takenPorts } from './ports.ts';
import { portsFrom } from './settings.ts';

/** For suites: `npm start`'s program as a process, and what it has written. */
export type RunningLauncher = {
  pid: number;
  output: () => string;
  /** Resolves with the exit code when it has ended. */
  exited: Promise<number | null>;
  signal: (signal: NodeJS.Signals) => void;
  /** What it notices when the npm command that started it is gone. */
  disconnect: () => void;
};

const PROJECT = resolve(import.meta.dirname, '../..');

export function runLauncher(
  directory: string,
  portBase: number | string,
  program: 'start' | 'reset' = 'start',
  redisUrl = '',
): RunningLauncher {
  const child = spawn(process.execPath, [join(PROJECT, `scripts/${program}.ts`)], {
    // The channel ends it with this process, however that ends.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { ...process.env, REDIS_URL: redisUrl, TOLLGATE_DIR: directory, PORT_BASE: String(portBase) },
  });
  let output = '';
  const streams = [child.stdout, child.stderr]
    .filter((stream) => stream !== null)
    .map((stream) => {
      stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
      return once(stream, 'close');
    });
  // Not the process's own "close": after a disconnect it never comes.
  const exited = once(child, 'exit').then(async ([code]: (number | null)[]) => {
    await Promise.all(streams);
    return code ?? null;
  });
  return {
    pid: child.pid ?? 0,
    output: () => output,
    exited,
    signal: (signal) => child.kill(signal),
    disconnect: () => {
      child.disconnect();
    },
  };
}

/** Waits until everything answers. */
export async function untilRunning(launcher: RunningLauncher, directory: string): Promise<Demo> {
  const ended = launcher.exited.then((code) => {
    throw new Error(`the launcher ended with ${String(code)}:\n${launcher.output()}`);
  });
  const runs = waitFor(() => launcher.output().includes('Ctrl-C stops it.'), {
    timeoutMs: 60_000,
    what: 'the stack to run',
  });
  await Promise.race([runs, ended]);
  return JSON.parse(readFileSync(join(directory, 'demo.json'), 'utf8')) as Demo;
}

/** A PORT_BASE all of whose ports are free. */
export async function freePortBase(): Promise<number> {
  return await waitFor(async () => {
    const base = await freePort();
    return (await takenPorts(portsFrom(base))).length === 0 ? base : undefined;
  });
}
