import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Each start writes its logs anew, so that they hold what happened now and don't grow for ever. */
export function clearLogs(directory: string): void {
  for (const file of readdirSync(directory)) {
    if (file.endsWith('.log')) rmSync(join(directory, file));
  }
}
