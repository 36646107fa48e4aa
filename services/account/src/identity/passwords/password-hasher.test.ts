import { expect, test } from '@jest/globals';
import { createPasswordHasher, hashWidth } from './password-hasher.ts';
import type { HashCaller } from './password-hasher.ts';

test.each([
  [{ cores: 1, threads: 4 }, 1],
  [{ cores: 2, threads: 4 }, 2],
  [{ cores: 16, threads: 4 }, 3],
  [{ cores: 16, threads: 64 }, 16],
  [{ cores: 4, threads: 1 }, 1],
])('as many hashes at once as the machine has cores and threads for: %j', (machine, width) => {
  expect(hashWidth(machine)).toBe(width);
});

test('guessers fill half of the queue, one address a quarter, and both kinds are served in turn', async () => {
  const done: string[] = [];
  const hasher = createPasswordHasher({ queueMax: 8, width: 1, onDone: () => undefined });
  const ask = (name: string, isTrusted: boolean, addressGroup = name) => {
    const caller: HashCaller = { addressGroup, isTrusted };
    return hasher.verify('wrong', undefined, caller).then(
      () => done.push(name),
      () => done.push(`${name} refused`),
    );
  };
  const all = [ask('first', false)];
  for (let number = 1; number <= 6; number += 1) all.push(ask(`guesser ${String(number)}`, false));
  for (let number = 1; number <= 3; number += 1) all.push(ask(`office ${String(number)}`, true, 'office'));
  all.push(ask('person', true), ask('another', true), ask('late', true));
  await Promise.all(all);
  expect(done).toEqual([
    'guesser 5 refused',
    'guesser 6 refused',
    'office 3 refused',
    'late refused',
    'first',
    'office 1',
    'guesser 1',
    'office 2',
    'guesser 2',
    'person',
    'guesser 3',
    'another',
    'guesser 4',
  ]);
});
