import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';

let directory: string;
let suite: AccountUnderTest;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'tollgate-addresses-'));
  mkdirSync(join(directory, 'assets'));
  writeFileSync(join(directory, 'index.html'), '<!doctype html>');
  writeFileSync(join(directory, 'preloads.json'), '{}');
});

afterAll(() => {
  rmSync(directory, { recursive: true });
});

describe.each([
  {
    name: 'data and token endpoints at addresses of their own',
    settings: { STREAMING_URL: 'https://data.example.com/v/', AUTH_URL: 'https://auth.example.com' },
    addresses: { streaming_url: 'https://data.example.com/v', auth_url: 'https://auth.example.com' },
    connect: "connect-src 'self' https://data.example.com wss://data.example.com;",
  },
  {
    name: 'everything at one address',
    settings: {},
    addresses: { streaming_url: null, auth_url: null },
    connect: "connect-src 'self';",
  },
])('$name', ({ settings, addresses, connect }) => {
  beforeAll(async () => {
    suite = await startAccount({ settings: { ...settings, CONSOLE_DIR: directory } });
  });

  afterAll(() => suite.close());

  test('the interface learns the addresses', async () => {
    const response = await fetch(`${suite.account.publicUrl}/api/console/addresses`);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual(addresses);
  });

  test("the page's policy lets it call the data endpoint by HTTP and WebSocket, and nothing else", async () => {
    const response = await fetch(`${suite.account.publicUrl}/user`);
    expect(response.headers.get('content-security-policy')).toContain(connect);
  });
});
