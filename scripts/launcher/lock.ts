import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { identityOf, isRunning } from '@tollgate/stack/process-identity';
import type { ProcessIdentity } from '@tollgate/stack/process-identity';
import { waitFor } from '@tollgate/stack/wait-for';

/** Who runs the stack of a directory, and where it answers. */
type Owner = ProcessIdentity & { addresses: string[]; stopping: boolean };

export type Lock = {
  /** Tells a launcher that comes now to wait instead of giving up. */
  announceStop: () => void;
  release: () => void;
};

const STOP_TIME_LIMIT_MS = 60_000;

/**
 * Takes the directory's single lock. One whose owner was killed counts for nothing; one whose owner is stopping
 * is waited for.
 *
 * @throws {Error} fit for a terminal when another launcher runs.
 */
export async function takeLock(
  file: string,
  addresses: string[],
  say: (line: string) => void,
): Promise<Lock> {
  const identity = identityOf(process.pid);
  if (identity === undefined) throw new Error('This system does not tell when a process has started.');
  const own: Owner = { ...identity, addresses, stopping: false };
  for (let waited = false; !tryLock(file, own);) {
    const owner = readOwner(file);
    if (owner === undefined || !isRunning(owner)) {
      removeStale(file);
    } else if (owner.stopping && !waited) {
      say('Another npm start is just stopping; waiting for its end …');
      await waitFor(() => !isRunning(owner), { timeoutMs: STOP_TIME_LIMIT_MS, what: 'the other one to end' });
      waited = true;
    } else {
      throw new Error(
        [
          `Tollgate runs here already (process ${String(owner.pid)}):`,
          ...owner.addresses.map((line) => `  ${line}`),
          `Ctrl-C in its terminal stops it, and so does: kill ${String(owner.pid)}`,
          'A second one beside it needs a TOLLGATE_DIR and a PORT_BASE of its own.',
        ].join('\n'),
      );
    }
  }
  return {
    announceStop: () => {
      replace(file, { ...own, stopping: true });
    },
    release: () => {
      rmSync(file, { force: true });
    },
  };
}

/** Makes the lock with its content at once: nobody ever reads half of it. */
function tryLock(file: string, own: Owner): boolean {
  const candidate = `${file}.${String(own.pid)}`;
  writeFileSync(candidate, JSON.stringify(own));
  try {
    linkSync(candidate, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(candidate);
  }
}

/** Moves the lock away to look at it again: meanwhile another launcher may have put its own there. */
function removeStale(file: string): void {
  const removed = `${file}.stale.${String(process.pid)}`;
  try {
    renameSync(file, removed);
    const owner = readOwner(removed);
    if (owner !== undefined && isRunning(owner)) linkSync(removed, file);
  } catch {
    // Another launcher was faster; the next try tells.
  } finally {
    rmSync(removed, { force: true });
  }
}

function replace(file: string, owner: Owner): void {
  const candidate = `${file}.${String(owner.pid)}`;
  writeFileSync(candidate, JSON.stringify(owner));
  renameSync(candidate, file);
}

function readOwner(file: string): Owner | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Owner;
  } catch {
    return undefined;
  }
}
