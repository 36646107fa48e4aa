import { existsSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

const MEMORY = '/dev/shm';

/** statfs(2) */
const TMPFS = 0x01021994;

/** What a run's stores hold is less than 1 GB. Containers often have 64 MB there. */
const MIN_BYTES = 3e9;

/**
 * Where the stores of tests lie: in memory if there is enough. A clone of the template is a thousand files, and Redis
 * syncs each write, while no test outlives the machine.
 */
export function storesDirectory(): string {
  try {
    const { bavail, bsize, type } = statfsSync(MEMORY);
    const hasRoom = Math.min(bavail * bsize, process.availableMemory()) >= MIN_BYTES;
    return type === TMPFS && hasRoom ? MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** All places that `storesDirectory` may have named at another time. */
export function storesDirectories(): string[] {
  return [tmpdir(), MEMORY].filter((directory) => existsSync(directory));
}
