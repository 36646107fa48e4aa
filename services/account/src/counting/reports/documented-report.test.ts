import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import { insertApplication } from '../../../test/suite/database/records.ts';
import { countedPoints, insertPayer, reporterCredentials } from '../../../test/suite/usage/usage-reports.ts';
import { reportSchema } from './input.ts';

/** docs/reporting-usage.md: its command is run as it is, but for the ids and the time. */

const PAGE = readFileSync(new URL('../../../../../docs/reporting-usage.md', import.meta.url), 'utf8');

const blockOf = (language: string) =>
  new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'm').exec(PAGE)?.[1] ?? '';

let suite: AccountUnderTest;

beforeAll(async () => {
  suite = await startAccount({ settings: { USAGE_REPORTER_CREDENTIALS: reporterCredentials } });
});

afterAll(async () => {
  await suite.close();
});

test('the command of the page gets the answer of the page; sent again, nothing is counted twice', async () => {
  const { account_id, period_id } = await insertPayer(suite);
  const { application_id } = await insertApplication(suite.database, account_id);
  const own = (text: string) =>
    text
      .replaceAll(/"account_id": 7\b/g, `"account_id": ${String(account_id)}`)
      .replaceAll(/"application_id": 12\b/g, `"application_id": ${String(application_id)}`)
      .replaceAll(/"period_id": 31\b/g, `"period_id": ${String(period_id)}`)
      .replaceAll(/"occurred_at": "[^"]*"/g, `"occurred_at": "${new Date().toISOString()}"`);
  const script = own(blockOf('sh'));
  const run = async () => {
    const { stdout } = await promisify(execFile)('sh', ['-ec', script], {
      env: {
        PATH: process.env['PATH'],
        TOLLGATE_URL: suite.account.privateUrl,
        REPORTER_CREDENTIAL: reporterCredentials.split(' ')[0],
      },
    });
    return JSON.parse(stdout) as { results: { status: string }[] };
  };
  const documented: unknown = JSON.parse(own(blockOf('json')));
  expect(await run()).toEqual(documented);
  expect((await run()).results.map(({ status }) => status)).toEqual(['repeated', 'refused']);
  expect(await countedPoints(suite, period_id)).toBe(250);
});

test('the page lists the members of an event, and which of them are required', () => {
  const rows = [...PAGE.matchAll(/^\| `(\w+)` +\| (\w+)(, required)? +\|/gm)];
  const listed = Object.fromEntries(rows.map(([, name = '', , required]) => [name, required !== undefined]));
  const { shape } = reportSchema.shape.events.element;
  expect(listed).toEqual(
    Object.fromEntries(
      Object.entries(shape).map(([name, field]) => [name, !field.safeParse(undefined).success]),
    ),
  );
});
