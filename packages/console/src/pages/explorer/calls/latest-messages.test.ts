import { expect, test } from '@jest/globals';
import { latestMessages } from './latest-messages.ts';

test('messages are shown newest first, the latest 50 of them', () => {
  const messages = latestMessages();
  messages.with({ data: 'a' });
  expect(Object.entries(messages.with({ data: 'b' }))).toEqual([
    ['Message 2', { data: 'b' }],
    ['Message 1', { data: 'a' }],
  ]);
  for (let count = 3; count <= 60; count += 1) messages.with({ data: count });
  const shown = Object.keys(messages.all());
  expect(shown).toHaveLength(50);
  expect([shown.at(0), shown.at(-1)]).toEqual(['Message 60', 'Message 11']);
});
