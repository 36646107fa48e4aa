import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { judge } from './judge.ts';

/** The whole command, with pnpm, against a registry of the test. What it judges without pnpm is tested without. */

const TIME_LIMIT_MS = 120_000;
const ID = 'GHSA-aaaa-bbbb-cccc';

let severity: string;
let status: number;
let registry: Server;
let directory: string;

beforeEach(async () => {
  [severity, status] = ['high', 200];
  directory = mkdtempSync(join(tmpdir(), 'tollgate-audit-'));
  registry = createServer((request, response) => {
    request.resume();
    response.writeHead(status, { 'content-type': 'application/json' }).end(
      JSON.stringify({
        express: [
          {
            id: 1,
            url: `https://github.com/advisories/${ID}`,
            title: 'Bad',
            severity,
            vulnerable_versions: '<99.0.0',
          },
        ],
      }),
    );
  }).listen(0, '127.0.0.1');
  await once(registry, 'listening');
});

afterEach(async () => {
  rmSync(directory, { recursive: true });
  await new Promise((resolve) => registry.close(resolve));
});

function audit(env: Record<string, string> = {}): Promise<[number, string]> {
  const file = join(directory, 'accepted.json');
  writeFileSync(file, '[]');
  const { port } = registry.address() as AddressInfo;
  const options = [`--registry=http://127.0.0.1:${String(port)}`, `--accepted=${file}`];
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['scripts/audit/audit.ts', ...options],
      { env: { ...process.env, ...env } },
      (error, stdout, stderr) => {
        resolve([error === null ? 0 : Number(error.code), stdout + stderr]);
      },
    );
  });
}

test.each([
  ['a new severe advisory fails, with its package', 'high', 1, 'express@'],
  ['a moderate one passes', 'moderate', 0, 'No new advisory'],
])(
  '%s',
  async (_name, given, code, text) => {
    severity = given;
    expect(await audit()).toEqual([code, expect.stringContaining(text)]);
  },
  TIME_LIMIT_MS,
);

const judged = (given: string, reason: string) =>
  judge(
    [
      {
        github_advisory_id: ID,
        module_name: 'express',
        severity: given,
        title: 'Bad',
        url: `https://github.com/advisories/${ID}`,
        findings: [{ version: '5.0.0', paths: ['services__auth>express'] }],
      },
    ],
    [{ advisory: ID, reason }],
  );

test('an accepted one passes, with its reason', () => {
  expect(judged('critical', 'Not reached.')).toEqual({
    known: [`${ID} (critical), accepted: Not reached.`],
    faults: [],
  });
});

test('an acceptance without a reason fails', () => {
  expect(judged('high', ' ')).toEqual({ known: [], faults: [expect.stringContaining(ID)] });
});

test('an acceptance that matches nothing fails', () => {
  expect(judged('low', 'Not reached.')).toEqual({
    known: [],
    faults: [expect.stringContaining('remove the entry')],
  });
});

test(
  'a registry without advisories is named, and fails where the audit is required',
  async () => {
    status = 405;
    expect(await audit()).toEqual([0, expect.stringContaining('NOT AUDITED')]);
    expect(await audit({ REQUIRE_AUDIT: '1' })).toEqual([1, expect.stringContaining('NOT AUDITED')]);
  },
  TIME_LIMIT_MS,
);
