import { expect, test } from '@jest/globals';
import { differencesInWords } from './settings-text.ts';

const before = { mail: true, shares: [80, 100], limits: { points_limit: [50] } };

test('only what differs is named, with what it was', () => {
  const after = { mail: false, shares: [80, 100], limits: { team_slots_limit: [100] } };
  expect(differencesInWords(before, after)).toEqual([
    'Email: off (was on)',
    'Points: as the default (was 50%)',
    'Team slots: 100% (was no alerts)',
  ]);
  expect(differencesInWords(before, { ...before })).toEqual([]);
});
