import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { newSampleSecrets } from '@tollgate/sample/secrets';
import { loadSecrets } from './secrets.ts';
import { makeStateDirectory, statePaths, writePrivateFile } from './state.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tollgate-secrets-'));
  makeStateDirectory(directory);
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

test('secrets of a version that had no sealing keys yet are completed once, and none is exchanged', () => {
  const paths = statePaths(directory);
  const { sealing_keys, ...earlier } = newSampleSecrets();
  writePrivateFile(paths.secrets, earlier);
  const loaded = loadSecrets(paths);
  expect(loaded).toEqual({ ...earlier, sealing_keys: expect.stringMatching(/^k1:[A-Za-z0-9+/]{43}=$/) });
  expect(loaded.sealing_keys).not.toBe(sealing_keys);
  expect(JSON.parse(readFileSync(paths.secrets, 'utf8'))).toEqual(loaded);
  expect(statSync(paths.secrets).mode & 0o777).toBe(0o600);
  expect(loadSecrets(paths)).toEqual(loaded);
});

test('secrets of a version that knew no reporter of usage yet get one, and none is exchanged', () => {
  const paths = statePaths(directory);
  const { credentials, ...made } = newSampleSecrets();
  const { usage_reporter, ...earlier } = credentials;
  writePrivateFile(paths.secrets, { ...made, credentials: earlier });
  const loaded = loadSecrets(paths);
  expect(loaded).toEqual({
    ...made,
    credentials: { ...earlier, usage_reporter: expect.stringMatching(/^[\w-]{43}$/) },
  });
  expect(loaded.credentials.usage_reporter).not.toBe(usage_reporter);
  expect(loadSecrets(paths)).toEqual(loaded);
});

test('secrets that are whole stay as they are', () => {
  const paths = statePaths(directory);
  const made = loadSecrets(paths);
  expect(loadSecrets(paths)).toEqual(made);
});
