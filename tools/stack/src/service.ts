import { answersOk } from './health.ts';
import { describeExit, logTail, startProcess } from './process.ts';
import type { ManagedProcess, OnSpawn } from './process.ts';
import { waitFor } from './wait-for.ts';

export type ServiceOptions = {
  name: string;
  entry: string;
  /** The Node.js of another checkout; by default, the one that runs this program. */
  node?: string;
  env: Readonly<Record<string, string | undefined>>;
  logFile: string;
  readyUrl: string;
  cwd?: string;
  timeLimitMs?: number;
  onSpawn?: OnSpawn | undefined;
};

/** The same flags as in the images (docs/design/settlement.md). */
export const NODE_FLAGS = [
  '--max-semi-space-size=32',
  '--single-threaded-gc',
  '--no-allocation-site-pretenuring',
  '--heap-growing-percent=200',
];

/** @throws {Error} with the log's last lines unless readyUrl answers 200 within 30 s; the process is stopped */
export async function startService(options: ServiceOptions): Promise<ManagedProcess> {
  const {
    name,
    entry,
    node = process.execPath,
    env,
    logFile,
    readyUrl,
    cwd,
    timeLimitMs = 90_000,
    onSpawn,
  } = options;
  const service = await startProcess({
    name,
    command: node,
    args: [...NODE_FLAGS, entry],
    env,
    logFile,
    ...(cwd === undefined ? {} : { cwd }),
    onSpawn,
  });
  try {
    await waitFor(() => service.hasExited() || answersOk(readyUrl), {
      timeoutMs: timeLimitMs,
      intervalMs: 50,
      what: `${readyUrl} to answer 200`,
    });
  } catch (error) {
    await service.stop();
    throw new Error(`${name} doesn't get ready.\n${logTail(logFile)}`, { cause: error });
  }
  if (service.hasExited()) {
    throw new Error(`${name} ended with ${describeExit(await service.exited)}.\n${logTail(logFile)}`);
  }
  return service;
}
