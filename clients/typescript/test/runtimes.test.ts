import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startStack } from '@tollgate/testbed/customer-stack';
import type { Stack } from '@tollgate/testbed/customer-stack';
import { findRuntime } from '@tollgate/testbed/runtimes';
import { pack } from './suite/pack.ts';

const run = promisify(execFile);
const LIMITS = { points_limit: 1_000_000, rate_limit: 100_000, session_limit: 2_000, subscription_limit: 10 };

let directory: string;
let project: string;
let stack: Stack;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'tollgate-runtimes-'));
  [{ project }, stack] = await Promise.all([pack(directory), startStack()]);
  cpSync('clients/typescript/test/suite/program.mjs', join(project, 'program.mjs'));
});

afterAll(async () => {
  await stack.stop();
  rmSync(directory, { recursive: true });
});

test.each([
  ['Node.js', () => Promise.resolve(process.execPath), []],
  ['Bun', () => findRuntime('bun'), []],
  ['Deno', () => findRuntime('deno'), ['run', '--allow-all', '--quiet']],
] as const)(
  'the packed library holds under %s',
  async (_, find, args) => {
    const runtime = await find();
    if (runtime === null) return;
    const applications = await Promise.all(
      [{ ...LIMITS, rate_limit: 60 }, { ...LIMITS, points_limit: 0 }, LIMITS].map((limits) =>
        stack.newApplication(limits),
      ),
    );
    const known = JSON.stringify([stack.url, ...applications]);
    const env = { PATH: process.env['PATH'] ?? '', HOME: directory, DENO_NO_UPDATE_CHECK: '1' };
    const options = { cwd: project, env, timeout: 50_000 };
    const { stdout, stderr } = await run(runtime, [...args, 'program.mjs', known], options);
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual({
      call: { data: { country: { name: 'Switzerland' } }, cost: 2 },
      atOnce: 50,
      usage: 1_000_000,
      refusal: [true, 'PlanError', 'points_limit_exceeded', 402, 0],
      error: [true, 'data_api_error'],
      badSecret: 'invalid_client',
      unreachable: 'connection_failed',
      rate: [true, 'rate_limit_exceeded', true],
      waited: 2,
      aborted: true,
      events: ['string', 'string', 'string'],
      left: 'string',
      noSubscription: 'points_limit_exceeded',
    });
  },
  120_000,
);
