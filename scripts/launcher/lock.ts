import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { identityOf, isRunning } from '@tollgate/stack/process-identity';
import type { ProcessIdentity } from '@tollgate/stack/process-identity';
import { waitFor } from '@tollgate/stack/wait-for';

type Claim = ProcessIdentity & {
  addresses: string[];
  stopping: boolean;
  /** Null while it is choosing one. */
  ticket: number | null;
};

type NamedClaim = Claim & { name: string };

export type Lock = {
  /** Makes a new launcher wait instead of giving up. */
  announceStop: () => void;
  release: () => void;
};

const STOP_TIME_LIMIT_MS = 60_000;
const SUFFIX = '.json';

/**
 * Takes a stack's single lock. Ignores a killed owner, and waits for one that is stopping. Lamport's bakery:
 * each launcher writes only its own file, with a number above all that it sees; the lowest number of a living
 * process wins. A single file can't be removed safely after its owner's death, because no file system removes
 * a file only if it is unchanged.
 * @throws {Error} fit for a terminal if another launcher runs
 */
export async function takeLock(
  directory: string,
  addresses: string[],
  say: (line: string) => void,
): Promise<Lock> {
  const identity = identityOf(process.pid);
  if (identity === undefined) throw new Error('This system does not tell when a process has started.');
  mkdirSync(directory, { recursive: true });
  const name = randomUUID();
  const publish = (claim: Claim) => {
    writeClaim(directory, name, claim);
  };
  const release = () => {
    rmSync(fileOf(directory, name), { force: true });
  };
  const choosing: Claim = { ...identity, addresses, stopping: false, ticket: null };
  publish(choosing);
  try {
    const taken = otherClaims(directory, name).map(({ ticket }) => ticket ?? 0);
    const ticket = Math.max(0, ...taken) + 1;
    const own = { ...choosing, ticket };
    publish(own);
    await waitForTurn(directory, { name, ticket }, say);
    return {
      announceStop: () => {
        publish({ ...own, stopping: true });
      },
      release,
    };
  } catch (error) {
    release();
    throw error;
  }
}

type Place = { name: string; ticket: number };

async function waitForTurn(directory: string, own: Place, say: (line: string) => void): Promise<void> {
  for (let told = false; ; told = true) {
    const owner = await firstBefore(directory, own);
    if (owner === undefined) return;
    if (!owner.stopping) {
      throw new Error(
        [
          `Tollgate is already running here (process ${String(owner.pid)}):`,
          ...owner.addresses.map((line) => `  ${line}`),
          `Stop it with Ctrl-C in its terminal, or with: kill ${String(owner.pid)}`,
          'To run a second one beside it, set another TOLLGATE_DIR and PORT_BASE.',
        ].join('\n'),
      );
    }
    if (!told) say('Another npm start is stopping. Waiting for it to end …');
    const ended = () => readClaim(directory, owner.name) === undefined;
    await waitFor(ended, { timeoutMs: STOP_TIME_LIMIT_MS, what: 'the other one to end' });
  }
}

/** One that is still choosing a number may get a lower one. */
async function firstBefore(directory: string, own: Place): Promise<NamedClaim | undefined> {
  const what = 'another npm start to choose its place';
  for (const { name } of otherClaims(directory, own.name)) {
    await waitFor(() => readClaim(directory, name)?.ticket !== null, { what });
  }
  return otherClaims(directory, own.name)
    .flatMap(({ ticket, ...other }) => (ticket === null ? [] : { ...other, ticket }))
    .filter((other) => isBefore(other, own))
    .sort((a, b) => (isBefore(a, b) ? -1 : 1))[0];
}

function isBefore(one: Place, other: Place): boolean {
  return one.ticket === other.ticket ? one.name < other.name : one.ticket < other.ticket;
}

/** Removes those of dead processes. */
function otherClaims(directory: string, ownName: string): NamedClaim[] {
  return readdirSync(directory)
    .filter((file) => file.endsWith(SUFFIX))
    .map((file) => file.slice(0, -SUFFIX.length))
    .filter((name) => name !== ownName)
    .flatMap((name) => {
      const claim = readClaim(directory, name);
      if (claim === undefined) rmSync(fileOf(directory, name), { force: true });
      return claim === undefined ? [] : { ...claim, name };
    });
}

/** Undefined if it was given up, its process has ended, or a crash cut off the write. */
function readClaim(directory: string, name: string): Claim | undefined {
  try {
    const claim = JSON.parse(readFileSync(fileOf(directory, name), 'utf8')) as Claim;
    return isRunning(claim) ? claim : undefined;
  } catch {
    return undefined;
  }
}

/** Renamed into place, so that no reader sees half of it. */
function writeClaim(directory: string, name: string, claim: Claim): void {
  const part = join(directory, `${name}.part`);
  writeFileSync(part, JSON.stringify(claim));
  renameSync(part, fileOf(directory, name));
}

function fileOf(directory: string, name: string): string {
  return join(directory, `${name}${SUFFIX}`);
}
