import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { findPython } from '@tollgate/testbed/python';
import { startPeople } from '../../test/suite/people.ts';
import type { PeopleUnderTest } from '../../test/suite/people.ts';
import { provisionTeam } from '../../test/suite/scim.ts';

/** The judge from outside: scim2-tester, which others wrote. */

const JUDGES = 'services/account/test/judges';

const run = promisify(execFile);

let suite: PeopleUnderTest;

beforeAll(async () => {
  suite = await startPeople();
});

afterAll(async () => {
  await suite.close();
});

type Check = { title: string; status: string; resource_type: string | null; reason: string | null };

test('scim2-tester finds no fault', async () => {
  const python = await findPython(`${JUDGES}/requirements.txt`);
  if (python === null) return;
  const { domain, token } = await provisionTeam(suite);
  const env = {
    PATH: process.env['PATH'],
    PYTHONDONTWRITEBYTECODE: '1',
    SCIM_URL: `${suite.account.publicUrl}/scim/v2`,
    SCIM_TOKEN: token,
    SCIM_DOMAIN: domain,
  };
  const { stdout } = await run(python, [`${JUDGES}/scim_tester.py`], { env, maxBuffer: 16 * 1_024 * 1_024 });
  const checks = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Check);
  expect(checks.filter(({ status }) => status !== 'SUCCESS')).toEqual([]);
  // What it would skip, or not find, it would not have judged.
  expect(checks.length).toBeGreaterThan(100);
  expect(new Set(checks.map(({ resource_type }) => resource_type))).toEqual(new Set([null, 'User', 'Group']));
}, 300_000);
