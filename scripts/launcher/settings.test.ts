import { expect, test } from '@jest/globals';
import { readSettings } from './settings.ts';

test('REDIS_URL may have every form that the services take; empty, it is none', () => {
  for (const url of ['rediss://a', 'redis+cluster://:p@a:1,b:2', 'redis+sentinel://a,b,c/main']) {
    expect(readSettings({ REDIS_URL: url }).redisUrl).toBe(url);
  }
  expect(readSettings({ REDIS_URL: '' }).redisUrl).toBeUndefined();
});

test('a wrong REDIS_URL is refused without a word of it', () => {
  for (const url of ['http://:the-password@a', 'redis+sentinel://:the-password@a:1', 'the-password']) {
    expect(() => readSettings({ REDIS_URL: url })).toThrow(/^REDIS_URL must (?!.*the-password)/);
  }
});
