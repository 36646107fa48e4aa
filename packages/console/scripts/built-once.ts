import { createHash } from 'node:crypto';
import {
  existsSync,
  globSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { isCompressed } from './precompress.ts';

const COMPRESSED = ' compressed';

/**
 * Has `build` write what is served from `dist`, unless its sources are those of the last build, which a
 * compressed one serves for, too. The build is put in
 * place whole, so that launchers that start side by side never serve half of one.
 *
 * `sources`: files and folders, whose names below `root` and contents count.
 */
export async function builtOnce(parts: {
  root: string;
  dist: string;
  sources: readonly string[];
  build: (outDir: string) => Promise<void>;
}): Promise<void> {
  const { root, dist, build } = parts;
  const stamp = join(dist, '.sources');
  const sources = hashOf(root, parts.sources);
  const built = existsSync(stamp) ? readFileSync(stamp, 'utf8') : '';
  if (built === `${sources}${COMPRESSED}` || (!isCompressed && built === sources)) return;
  removeHalfBuilds(dist);
  const fresh = `${dist}.${String(process.pid)}`;
  const former = `${fresh}.former`;
  try {
    await build(fresh);
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true });
    throw error;
  }
  writeFileSync(join(fresh, '.sources'), isCompressed ? `${sources}${COMPRESSED}` : sources);
  if (existsSync(dist)) renameSync(dist, former);
  renameSync(fresh, dist);
  rmSync(former, { recursive: true, force: true });
}

/** Of builds that were cut off, as by Ctrl-C. */
function removeHalfBuilds(dist: string): void {
  const [directory, name] = [dirname(dist), basename(dist)];
  for (const half of globSync(`${name}.*`, { cwd: directory })) {
    const pid = Number(half.slice(name.length + 1).split('.')[0]);
    if (!isRunning(pid)) rmSync(join(directory, half), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function hashOf(root: string, sources: readonly string[]): string {
  const hash = createHash('sha256');
  for (const path of sources.flatMap(filesOf).sort())
    hash
      .update(`${relative(root, path)}\0`)
      .update(readFileSync(path))
      .update('\0');
  return hash.digest('hex');
}

function filesOf(path: string): string[] {
  if (statSync(path).isFile()) return [path];
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .map((name) => join(path, name))
    .filter((name) => statSync(name).isFile());
}
