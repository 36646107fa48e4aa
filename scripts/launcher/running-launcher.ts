import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { claimPort, freePort } from '@tollgate/stack/ports';
import { waitFor } from '@tollgate/stack/wait-for';
import type { Demo } from './demo.ts';
import { takenPorts } from './ports.ts';
import { blockedPort, portsFrom } from './settings.ts';

/** `npm start`'s program as a process, for suites. */
export type RunningLauncher = {
  pid: number;
  output: () => string;
  exited: Promise<number | null>;
  signal: (signal: NodeJS.Signals) => void;
  /** Simulates the end of the npm command that started it. */
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
    // The channel ends the launcher with this process, however that ends.
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
  // The process's own "close" never comes after a disconnect.
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

export async function untilRunning(launcher: RunningLauncher, directory: string): Promise<Demo> {
  const ended = launcher.exited.then((code) => {
    throw new Error(`the launcher ended with ${String(code)}:\n${launcher.output()}`);
  });
  const runs = waitFor(() => launcher.output().includes('Ctrl-C stops it.'), {
    // A machine that does much else takes minutes.
    timeoutMs: 240_000,
    what: 'the stack to run',
  });
  await Promise.race([runs, ended]);
  return JSON.parse(readFileSync(join(directory, 'demo.json'), 'utf8')) as Demo;
}

export async function freePortBase(): Promise<number> {
  return await waitFor(async () => {
    const base = await freePort();
    const ports = portsFrom(base);
    if (blockedPort(ports) !== undefined) return undefined;
    if (!Object.values(ports).every((port) => port === base || claimPort(port))) return undefined;
    return (await takenPorts(ports)).length === 0 ? base : undefined;
  });
}
