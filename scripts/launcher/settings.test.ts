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

test('a base is refused, with the way out, when browsers could not open one of its ports', () => {
  const message = 'PORT_BASE=5900 uses port 6000, which browsers and fetch refuse to open.';
  expect(() => readSettings({ PORT_BASE: '5900' })).toThrow(message);
  // Redis is at port 6697 of the first, Postgres at 10080 of the second.
  for (const base of ['6692', '10076']) expect(readSettings({ PORT_BASE: base })).toBeDefined();
  expect(() => readSettings({ PORT_BASE: '6664' })).toThrow('uses port 6665');
  expect(readSettings({}).ports.gateway).toBe(4_000);
});

test('the refused ports are those that fetch refuses', async () => {
  for (const port of [1_719, 6_000, 10_080]) {
    const refused = await fetch(`http://127.0.0.1:${String(port)}`).catch((error: unknown) => error);
    expect((refused as Error).cause).toMatchObject({ message: 'bad port' });
  }
});
