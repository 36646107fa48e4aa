import { randomInt } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const HOST = '127.0.0.1';

/** Below the range of outgoing connections' ports, so that one stays free over a restart. */
const RANGE = { from: 10_240, below: 32_000 };

/** A file for each port that a running process was given, with the process' id. */
const CLAIMS = join(tmpdir(), `tollgate-ports-${String(process.getuid?.() ?? '')}`);

/** No other process gets it from here while this one runs, also while nothing listens on it. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(RANGE.from, RANGE.below);
    if (claimPort(port) && !(await isPortTaken(port))) return port;
  }
}

/** Whether freePort gives it to no other process from now on; false where it has been given before. */
export function claimPort(port: number): boolean {
  const file = join(CLAIMS, String(port));
  mkdirSync(CLAIMS, { recursive: true });
  if (created(file)) return true;
  if (isRunning(claimant(file))) return false;
  rmSync(file, { force: true });
  return created(file);
}

/** By this process, and not before. */
function created(file: string): boolean {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    return false;
  }
}

function claimant(file: string): number {
  try {
    return Number(readFileSync(file, 'utf8'));
  } catch {
    return 0;
  }
}

/** Also true of what has ended and got its id again, whose port then stays unused for longer. */
function isRunning(pid: number): boolean {
  // Half written, or given back.
  if (pid === 0) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

export async function isPortTaken(port: number): Promise<boolean> {
  // Binding alone isn't enough: some systems let 127.0.0.1 be bound beside a listener on every address.
  return !(await canBind(port)) || (await canConnect(port));
}

function canBind(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => {
      resolve(false);
    });
    server.listen({ host: HOST, port, exclusive: true }, () => {
      server.close(() => {
        resolve(true);
      });
    });
  });
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: HOST, port });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => {
      resolve(false);
    });
  });
}
