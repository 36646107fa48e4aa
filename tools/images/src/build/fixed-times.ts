import { lutimesSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const EPOCH_SEC = 0;

/** Gives a folder and all below it one time, so that the same sources make the same layer. */
export function fixTimes(path: string): void {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const inner = join(path, entry.name);
    if (entry.isDirectory()) fixTimes(inner);
    else lutimesSync(inner, EPOCH_SEC, EPOCH_SEC);
  }
  lutimesSync(path, EPOCH_SEC, EPOCH_SEC);
}
