import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { identityOf } from '../process-identity.ts';
import { runCommand } from '../process.ts';
import type { OnSpawn } from '../process.ts';
import { canReach } from './postgres-user.ts';
import type { PostgresUser } from './postgres-user.ts';

const ROOTS_DATA = '/var/lib/tollgate';

/** File in dataDir that names the directory that really holds the data. */
const ELSEWHERE = 'elsewhere';

/** dataDir, which remembers a directory below /var/lib/tollgate if the Postgres user can't enter root's. */
export async function dataHome(dataDir: string, user: PostgresUser): Promise<string> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  if (user === undefined) return dataDir;
  const known = await elsewhere(dataDir);
  if (known !== undefined) return known;
  // A checkout that has started here keeps its data here.
  await chown(dataDir, user.uid, user.gid);
  await chmod(dataDir, 0o700);
  if (canReach(user, dataDir)) return dataDir;

  const place = join(ROOTS_DATA, createHash('sha256').update(resolve(dataDir)).digest('hex').slice(0, 16));
  await mkdir(ROOTS_DATA, { recursive: true, mode: 0o755 });
  // Left by an earlier checkout at the same path, deleted without a reset: its password is lost.
  await rm(place, { recursive: true, force: true });
  await mkdir(place, { mode: 0o700 });
  await chown(place, user.uid, user.gid);
  await writeFile(join(dataDir, ELSEWHERE), place);
  return place;
}

export async function removePostgresData(dataDir: string): Promise<void> {
  const place = await elsewhere(dataDir);
  if (place?.startsWith(`${ROOTS_DATA}/`) === true) await rm(place, { recursive: true, force: true });
  await rm(dataDir, { recursive: true, force: true });
}

/** Returns the cluster's directory; an interrupted run leaves none. */
export async function initialise(options: {
  home: string;
  binaries: string;
  user: PostgresUser;
  password: string;
  logFile: string;
  durable: boolean;
  onSpawn?: OnSpawn | undefined;
}): Promise<string> {
  const { home, user } = options;
  const cluster = join(home, 'cluster');
  if (existsSync(cluster)) return cluster;
  for (const entry of await readdir(home)) {
    if (entry.startsWith('new-')) await rm(join(home, entry), { recursive: true, force: true });
  }
  const fresh = join(home, `new-${randomUUID()}`);
  const passwordFile = `${fresh}.password`;
  await writeFile(passwordFile, `${options.password}\n`, { mode: 0o600 });
  if (user !== undefined) await chown(passwordFile, user.uid, user.gid);
  try {
    await runCommand({
      name: 'initdb',
      command: join(options.binaries, 'bin/initdb'),
      args: [
        `--pgdata=${fresh}`,
        '--username=postgres',
        `--pwfile=${passwordFile}`,
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        // Postgres' own C.UTF-8 sorts alike on every machine, whatever its locales.
        '--locale=C',
        '--locale-provider=builtin',
        '--builtin-locale=C.UTF-8',
        ...(options.durable ? [] : ['--no-sync']),
      ],
      env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
      cwd: home,
      logFile: options.logFile,
      user,
      onSpawn: options.onSpawn,
    });
    await rename(fresh, cluster);
  } finally {
    await rm(passwordFile, { force: true });
  }
  return cluster;
}

/** Postgres takes a program that reuses a killed postmaster's pid for itself; it judges other lock files well. */
export async function removeStrangersLock(
  cluster: string,
  isPostgres: (pid: number) => boolean,
): Promise<void> {
  const lockFile = join(cluster, 'postmaster.pid');
  if (!existsSync(lockFile)) return;
  const pid = Number((await readFile(lockFile, 'utf8')).split('\n')[0]);
  if (Number.isInteger(pid) && pid > 0 && identityOf(pid) !== undefined && !isPostgres(pid))
    await rm(lockFile);
}

async function elsewhere(dataDir: string): Promise<string | undefined> {
  try {
    return (await readFile(join(dataDir, ELSEWHERE), 'utf8')).trim();
  } catch {
    return undefined;
  }
}
