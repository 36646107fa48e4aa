import { basename, join, resolve } from 'node:path';
import { bundleDirectory } from './config.ts';

/** Entry points, by room, that suites start often. */
export const BUNDLED_PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  'services/auth': ['main', 'service'],
  'services/account': ['main', 'service', 'programs/migrate', 'programs/seed'],
  'services/gateway': ['main', 'service', 'body-worker/body-worker'],
  'tools/command': ['tollgate'],
  'sample-payments': ['main'],
  'sample-upstream': ['main'],
};

export const ROOT = resolve(import.meta.dirname, '../../..');

/** The file to run of an entry point (`services/auth`, `main`): its source, or its bundle if this run has one. */
export function programFile(room: string, entry: string): string {
  const bundles = bundleDirectory();
  const isBundled = bundles !== undefined && BUNDLED_PROGRAMS[room]?.includes(entry) === true;
  return isBundled ? join(bundles, room, `${basename(entry)}.mjs`) : join(ROOT, room, 'src', `${entry}.ts`);
}
