import { afterAll, describe, expect, test } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endProcess, identityOf, isRunning } from './process-identity.ts';
import { runCommand, startProcess } from './process.ts';
import type { ManagedProcess } from './process.ts';
import { waitFor } from './wait-for.ts';

const directory = mkdtempSync(join(tmpdir(), 'tollgate-process-'));
const logFile = join(directory, 'log');

afterAll(() => {
  rmSync(directory, { recursive: true });
});

function node(script: string, env: Record<string, string> = {}) {
  return { name: 'child', command: process.execPath, args: ['-e', script], env, logFile };
}

async function startStubborn(script: string): Promise<ManagedProcess> {
  const marker = crypto.randomUUID();
  const child = await startProcess(node(`${script}; setInterval(() => {}, 1e6); console.log('${marker}')`));
  await waitFor(() => readFileSync(logFile, 'utf8').includes(marker));
  return child;
}

describe('stop', () => {
  test('sends the signal and tells how the process ended', async () => {
    const child = await startStubborn("process.on('SIGTERM', () => process.exit(7))");
    expect(await child.stop()).toEqual({ code: 7, signal: null });
    expect(await child.stop()).toEqual({ code: 7, signal: null });
  });

  test('kills a process that takes too long, with what it has spawned', async () => {
    const child = await startStubborn(`
      process.on('SIGTERM', () => {});
      const grandchild = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)']);
      console.log('grandchild=' + grandchild.pid + ';')
    `);
    const pid = Number(/grandchild=(\d+);/.exec(readFileSync(logFile, 'utf8'))?.[1]);
    const grandchild = identityOf(pid);
    expect(grandchild).toBeDefined();
    expect(await child.stop({ timeLimitMs: 50 })).toEqual({ code: null, signal: 'SIGKILL' });
    await waitFor(() => identityOf(pid)?.startTime !== grandchild?.startTime);
  });
});

describe('a process identity', () => {
  test('holds while the process runs, and not after', async () => {
    const child = await startStubborn('');
    expect(isRunning(child.identity)).toBe(true);
    await child.stop({ signal: 'SIGKILL' });
    expect(isRunning(child.identity)).toBe(false);
  });

  test('is not that of a later process with the same pid, which is left alone', async () => {
    const child = await startStubborn('');
    const earlier = { pid: child.identity.pid, startTime: 'another' };
    expect(isRunning(earlier)).toBe(false);
    await endProcess(earlier, { signal: 'SIGKILL' });
    expect(child.hasExited()).toBe(false);
    await endProcess(child.identity);
    expect((await child.exited).signal).toBe('SIGTERM');
  });
});

describe('a command', () => {
  test('gets its input and returns its output', async () => {
    const echo = node('process.stdin.pipe(process.stdout)');
    expect(await runCommand({ ...echo, input: 'Grüezi' })).toBe('Grüezi');
  });

  test('inherits nothing of our environment', async () => {
    const print = node('console.log(process.env.HOME, process.env.GIVEN, process.env.PATH)', {
      GIVEN: 'yes',
    });
    expect(await runCommand(print)).toBe('undefined yes undefined\n');
  });

  test('that fails is reported with its exit code and the end of its log', async () => {
    const failing = runCommand(node("console.error('the reason'); process.exit(3)"));
    await expect(failing).rejects.toThrow(/child ended with exit code 3\.\n.*the reason/s);
  });

  test('that does not exist is reported by its name', async () => {
    const missing = runCommand({ ...node(''), command: '/nowhere/program' });
    await expect(missing).rejects.toThrow(/child could not be started: .*ENOENT/);
  });
});
