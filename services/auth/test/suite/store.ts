import { mastersOf } from '@tollgate/redis';
import type { Redis } from '@tollgate/redis';
import type { AuthUnderTest } from './auth-under-test.ts';

type Store = Pick<AuthUnderTest, 'store'>;

/** Of every server that has keys. */
export function onMasters<T>({ store }: Store, ask: (master: Redis) => Promise<T>): Promise<T[]> {
  return Promise.all(mastersOf(store).map(ask));
}

export async function keysOf(auth: Store, pattern: string): Promise<string[]> {
  return (await onMasters(auth, (master) => master.keys(pattern))).flat();
}

export async function flush(auth: Store): Promise<void> {
  await onMasters(auth, (master) => master.flushall());
}

export async function configure(auth: Store, setting: string, value: string): Promise<void> {
  await onMasters(auth, (master) => master.config('SET', setting, value));
}
