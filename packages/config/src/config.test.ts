import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { ConfigError, readConfig } from './config.ts';
import { connectionUrl, secret, wholeNumber } from './settings.ts';

const schema = z.object({
  PORT: wholeNumber(0, 65_535).describe('port of the listener'),
  API_SECRET: secret,
  STORE_URL: connectionUrl('redis:'),
  LIMIT: wholeNumber(1, 10).default(5),
});
const good = { PORT: '4000', API_SECRET: 'a-secret-of-sixteen-or-more', STORE_URL: 'redis://localhost' };

let directory = '';

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'tollgate-config-'));
});

afterAll(() => {
  rmSync(directory, { recursive: true });
});

function fileWith(content: string): string {
  const path = join(directory, `${String(Math.random())}.txt`);
  writeFileSync(path, content);
  return path;
}

function faultsOf(env: Record<string, string | undefined>): readonly string[] {
  try {
    readConfig(schema, env);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}

test('settings are read, and defaults fill the rest', () => {
  expect(readConfig(schema, good)).toEqual({
    PORT: 4000,
    API_SECRET: good.API_SECRET,
    STORE_URL: good.STORE_URL,
    LIMIT: 5,
  });
});

test('every fault is named at once, and none shows a value', () => {
  const env = { PORT: 'eighty', API_SECRET: 'tooshort', STORE_URL: 'http://u:hunter2@host', LIMIT: '11' };
  const faults = faultsOf(env);
  expect(faults).toEqual([
    'PORT: must be a whole number from 0 to 65535',
    'API_SECRET: must have at least 16 characters',
    'STORE_URL: must be a URL that starts with redis://',
    'LIMIT: must be a whole number from 1 to 10',
  ]);
  const { message } = new ConfigError(faults);
  expect(message).toMatch(/^The configuration has 4 fault\(s\):\n {2}- PORT: /);
  for (const value of Object.values(env)) expect(message.replace(/from 1 to 10/, '')).not.toContain(value);
});

test('a setting that is missing or empty is named with both its names', () => {
  expect(faultsOf({ ...good, PORT: undefined, STORE_URL: '' })).toEqual([
    'PORT: is not set (nor is PORT_FILE): port of the listener',
    'STORE_URL: is not set (nor is STORE_URL_FILE)',
  ]);
});

test('NAME_FILE gives the value, less one trailing newline', () => {
  for (const content of ['a-secret-in-a-file', 'a-secret-in-a-file\n', 'a-secret-in-a-file\r\n']) {
    const env = { ...good, API_SECRET: undefined, API_SECRET_FILE: fileWith(content) };
    expect(readConfig(schema, env).API_SECRET).toBe('a-secret-in-a-file');
  }
  const twoLines = { ...good, API_SECRET: '', API_SECRET_FILE: fileWith('a-secret-in-a-file\n\n') };
  expect(readConfig(schema, twoLines).API_SECRET).toBe('a-secret-in-a-file\n');
});

test('both NAME and NAME_FILE are a fault', () => {
  expect(faultsOf({ ...good, API_SECRET_FILE: fileWith('another-secret-in-a-file') })).toEqual([
    'API_SECRET: both API_SECRET and API_SECRET_FILE are set; keep one',
  ]);
});

test('a file that can’t be read, or holds a wrong value, is a fault beside the others', () => {
  const env = { PORT: 'x', API_SECRET_FILE: join(directory, 'missing'), STORE_URL_FILE: fileWith('ftp://x') };
  expect(faultsOf(env)).toEqual([
    "API_SECRET: the file that API_SECRET_FILE names can't be read (ENOENT)",
    'PORT: must be a whole number from 0 to 65535',
    'STORE_URL: must be a URL that starts with redis://',
  ]);
});
