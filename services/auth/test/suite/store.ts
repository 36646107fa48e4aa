import { mastersOf } from '@tollgate/redis';
import type { Redis } from '@tollgate/redis';
import type { AuthUnderTest } from './auth-under-test.ts';

type Store = Pick<AuthUnderTest, 'store'>;

/** Asks every server that holds keys; their answers. */
export function onMasters<T>({ store }: Store, ask: (master: Redis) => Promise<T>): Promise<T[]> {
  return Promise.all(mastersOf(store).map(ask));
}

/** The keys that match, of all servers. */
export async function keysOf(auth: Store, pattern: string): Promise<string[]> {
  return (await onMasters(auth, (master) => master.keys(pattern))).flat();
}

/** Empties all servers. */
export async function flush(auth: Store): Promise<void> {
  await onMasters(auth, (master) => master.flushall());
}

/** Sets one of Redis' own settings on all servers. */
export async function configure(auth: Store, setting: string, value: string): Promise<void> {
  await onMasters(auth, (master) => master.config('SET', setting, value));
}
