import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { removePostgresData } from '@tollgate/stack/postgres';
import type { OnSpawn } from '@tollgate/stack/process';
import { endProcess, identityOf, isRunning } from '@tollgate/stack/process-identity';
import type { ProcessIdentity } from '@tollgate/stack/process-identity';
import type { RedisProgram } from '@tollgate/stack/redis-program';
import { runDirectory } from './config.ts';
import { storesDirectories, storesDirectory } from './stores-directory.ts';

/** Records each started process, so that nothing outlives the run, however it fails. */
const PREFIX = 'tollgate-testbed-';

export type Run = {
  postgresUrl: string;
  /** Data directory of a stopped Postgres that startPostgres copies. */
  clusterTemplate: string;
  redisProgram: RedisProgram;
};

export async function createRunDirectory(): Promise<string> {
  const directory = await mkdtemp(join(storesDirectory(), PREFIX));
  // As root, Postgres runs as another user, who must reach its data.
  await chmod(directory, 0o711);
  await mkdir(join(directory, 'processes'));
  await writeFile(join(directory, 'owner.json'), JSON.stringify(identityOf(process.pid)));
  return directory;
}

export async function writeRun(directory: string, run: Run): Promise<void> {
  await writeFile(join(directory, 'run.json'), JSON.stringify(run), { mode: 0o600 });
}

export async function readRun(): Promise<Run> {
  return JSON.parse(await readFile(join(runDirectory(), 'run.json'), 'utf8')) as Run;
}

export function register(directory: string): OnSpawn {
  return ({ identity }) => {
    writeFileSync(join(directory, 'processes', String(identity.pid)), JSON.stringify(identity));
  };
}

export function newDirectory(directory: string, name: string): string {
  const path = join(directory, `${name}-${crypto.randomUUID()}`);
  mkdirSync(path);
  return path;
}

export async function endRun(directory: string): Promise<void> {
  const processes = readdirSync(join(directory, 'processes')).map((file) =>
    readIdentity(join(directory, 'processes', file)),
  );
  // No suite runs any more, so nothing needs to finish.
  await Promise.all(
    processes.map(async (identity) => {
      if (identity !== undefined) await endProcess(identity, { signal: 'SIGINT', timeLimitMs: 5_000 });
    }),
  );
  for (const entry of readdirSync(directory)) {
    if (entry.startsWith('postgres')) await removePostgresData(join(directory, entry));
  }
  await rm(directory, { recursive: true, force: true });
}

/** Ends runs whose jest was killed. */
export async function endAbandonedRuns(): Promise<void> {
  for (const base of storesDirectories()) {
    for (const entry of readdirSync(base)) {
      if (!entry.startsWith(PREFIX)) continue;
      const directory = join(base, entry);
      const owner = readIdentity(join(directory, 'owner.json'));
      if (owner !== undefined && !isRunning(owner)) await endRun(directory);
    }
  }
}

function readIdentity(file: string): ProcessIdentity | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as ProcessIdentity;
  } catch {
    // Half written, or another user's.
    return undefined;
  }
}
