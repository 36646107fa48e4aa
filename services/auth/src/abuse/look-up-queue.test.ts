import { expect, test } from '@jest/globals';
import { createLookUpQueue } from './look-up-queue.ts';

const limits = { concurrency: 2, waitingMax: 5, waitingPerHolderMax: 4 };

/** Work that ends when it is told to, and the order in which it began. */
function workshop(run: ReturnType<typeof createLookUpQueue>) {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const start = (holder: string, name: string) =>
    run(holder, () => {
      begun.push(name);
      return new Promise<string>((resolve) => {
        ends.push(() => {
          resolve(name);
        });
      });
    });
  /** Ends what began first, and waits until the next has begun. */
  const endFirst = async () => {
    ends.shift()?.();
    await new Promise(setImmediate);
  };
  return { begun, start, endFirst };
}

test('holders take turns: who comes after a flood waits for one of it, not for all', async () => {
  const { begun, start, endFirst } = workshop(createLookUpQueue(limits));
  const all = ['a1', 'a2', 'a3', 'a4', 'a5'].map((name) => start('a', name));
  all.push(start('b', 'b1'));
  expect(begun).toEqual(['a1', 'a2']);
  for (let ended = 0; ended < 6; ended += 1) await endFirst();
  expect(await Promise.all(all)).toHaveLength(6);
  expect(begun).toEqual(['a1', 'a2', 'a3', 'b1', 'a4', 'a5']);
});

test('a holder with too much waiting is refused, and another is not; a full queue is unavailable', async () => {
  const { start, endFirst } = workshop(createLookUpQueue(limits));
  const all = Array.from({ length: 6 }, (_, index) => start('a', String(index)));
  await expect(start('a', 'seventh')).rejects.toMatchObject({ code: 'too_many_requests' });
  all.push(start('b', 'b'));
  await expect(start('c', 'c')).rejects.toMatchObject({ code: 'service_unavailable' });
  for (let ended = 0; ended < 7; ended += 1) await endFirst();
  expect(await Promise.all(all)).toHaveLength(7);
});

test('work that fails frees its slot', async () => {
  const run = createLookUpQueue({ ...limits, concurrency: 1 });
  await expect(run('a', () => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  expect(await run('a', () => Promise.resolve('next'))).toBe('next');
});
