import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
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

test('secrets that are whole stay as they are', () => {
  const paths = statePaths(directory);
  const made = loadSecrets(paths);
  expect(statSync(paths.secrets).mode & 0o777).toBe(0o600);
  expect(loadSecrets(paths)).toEqual(made);
});

test('secrets of a version that sold nothing stay, and get those for payments once', () => {
  const paths = statePaths(directory);
  const { payments: _payments, ...older } = loadSecrets(paths);
  writePrivateFile(paths.secrets, older);
  const extended = loadSecrets(paths);
  expect(extended).toMatchObject({ ...older, payments: { secret_key: expect.any(String) } });
  expect(loadSecrets(paths)).toEqual(extended);
});
