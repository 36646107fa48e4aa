import { ok, problem } from './finding.ts';
import type { Finding } from './finding.ts';

/** A version that a process stated, by the process' name; null if it is too old to state one. */
export type StatedVersion = readonly [name: string, version: string | null];

export function checkVersions(stated: readonly StatedVersion[]): Finding {
  const versions = new Set(stated.map(([, version]) => version));
  const [version] = versions;
  if (versions.size === 1 && typeof version === 'string') {
    return ok('versions', `Everything is version ${version}.`);
  }
  const list = stated.map(([name, each]) => `${name} ${each ?? '(older)'}`).join(', ');
  return problem('versions', `The versions differ: ${list}.`, 'Complete the update, or the rollback.');
}
