import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createUpstreamIds } from './upstream-ids.ts';

/** Few ids, so that they collide, and some that look like the gateway's own. */
const id = fc.constantFrom('a', 'b', '1', '#1', '#2', '#3', 'a#1', '#a', '');
const steps = fc.array(fc.record({ id, stop: fc.boolean() }), { maxLength: 400 });

test('no two open operations share an id at the upstream, and none has that of a stopped one', () => {
  fc.assert(
    fc.property(steps, (taken) => {
      const ids = createUpstreamIds();
      const open = new Map<string, string>();
      const stopped = new Set<string>();
      for (const step of taken) {
        const former = open.get(step.id);
        if (former !== undefined) {
          open.delete(step.id);
          // No late messages follow when the upstream has ended an operation.
          if (!step.stop) continue;
          ids.stopped(former);
          stopped.add(former);
        }
        const upstreamId = ids.take(step.id);
        expect(stopped).not.toContain(upstreamId);
        expect([...open.values()]).not.toContain(upstreamId);
        open.set(step.id, upstreamId);
      }
    }),
  );
});

test('an id that was never stopped goes on as it is', () => {
  const ids = createUpstreamIds();
  expect([ids.take('a'), ids.take('a'), ids.take('b')]).toEqual(['a', 'a', 'b']);
});

test('more ids are stopped than are remembered: all further ones are new', () => {
  const ids = createUpstreamIds();
  for (let index = 0; index < 150; index += 1) ids.stopped(ids.take(String(index)));
  const taken = Array.from({ length: 150 }, (_, index) => ids.take(String(index)));
  expect(new Set(taken).size).toBe(150);
  for (const one of taken) expect(one).toMatch(/^#\d+$/);
});

test('half a surrogate pair, which servers replace, doesn’t reach the upstream', () => {
  const ids = createUpstreamIds();
  expect([ids.take('\ud800'), ids.take('a\udc00'), ids.take('\ufffd'), ids.take('😀')]).toEqual([
    '#1',
    '#2',
    '\ufffd',
    '😀',
  ]);
});
