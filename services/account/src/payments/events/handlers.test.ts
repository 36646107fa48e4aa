import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { HANDLERS } from './handlers.ts';

const CHAPTER = readFileSync(new URL('../../../../../docs/configuration.md', import.meta.url), 'utf8');

test('operators are told to have each event sent that is handled', () => {
  const sentence = /^- The endpoint must send all events of these kinds: (.*?)\. /m.exec(CHAPTER)?.[1] ?? '';
  const kinds = [...sentence.matchAll(/`([^`]+)`/g)].map(([, kind = '']) => kind);
  const isSent = (type: string) =>
    kinds.some((kind) => (kind.endsWith('*') ? type.startsWith(kind.slice(0, -1)) : type === kind));
  expect(Object.keys(HANDLERS).filter((type) => !isSent(type))).toEqual([]);
});
