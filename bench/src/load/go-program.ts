import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { cacheDir } from '@tollgate/stack/config';
import { runCommand } from '@tollgate/stack/process';
import { inPlace } from '../cores.ts';
import type { Servers } from '../servers.ts';
import { onPath } from './on-path.ts';

export type GoProgram = {
  name: string;
  /** Go's package; its module and all that it needs are pinned by peers/<name>/go.mod and go.sum. */
  source: string;
  /** As of `go build`. */
  flags: readonly string[];
};

type Needs = Pick<Servers, 'project' | 'directory' | 'places' | 'onSpawn'>;

/**
 * A peer's program: that of the PATH, else one that Go builds, once for all checkouts of this user.
 * @throws {Error} of one line if there is neither, or if it can't be built
 */
export async function goProgram(
  { name, source, flags }: GoProgram,
  { project, directory, places, onSpawn }: Needs,
  say: (line: string) => void,
): Promise<string> {
  const installed = orNull(() => onPath(name));
  if (installed !== null) return installed;
  const go = orNull(() => onPath('go'));
  if (go === null) throw new Error(`no ${name} on the PATH, and no go that could build it`);
  const module = join(project, 'bench/peers', name);
  const pinned = await Promise.all(['go.mod', 'go.sum'].map((file) => readFile(join(module, file))));
  const hash = createHash('sha256').update(JSON.stringify([source, flags, ...pinned.map(String)]));
  const target = join(cacheDir(), `${name}-go-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(target)) return target;
  say(`${name}: building it with ${go}, once; that takes minutes …`);
  await mkdir(cacheDir(), { recursive: true });
  const fresh = `${target}.${randomUUID()}`;
  // The bench itself is on one core.
  const place = places === undefined ? undefined : `0-${String(availableParallelism() - 1)}`;
  const [command = go, ...args] = inPlace(place, [go, 'build', ...flags, '-o', fresh, source]);
  const startedMs = performance.now();
  try {
    const logFile = join(directory, `logs/${name}-build.log`);
    const env = { ...process.env, GOFLAGS: '-mod=readonly -trimpath -buildvcs=false' };
    await runCommand({ name: 'go build', command, args, env, cwd: module, logFile, onSpawn });
    await rename(fresh, target);
  } catch (error) {
    throw new Error(`${name} could not be built: ${lastLine(error)}`, { cause: error });
  } finally {
    await rm(fresh, { force: true });
  }
  say(`${name}: built in ${((performance.now() - startedMs) / 1_000).toFixed(0)} s`);
  return target;
}

function orNull(find: () => string): string | null {
  try {
    return find();
  } catch {
    return null;
  }
}

/** What Go says last tells why. */
function lastLine(error: unknown): string {
  const lines = (error instanceof Error ? error.message : String(error)).trimEnd().split('\n');
  return lines.at(-1)?.trim() ?? '';
}
