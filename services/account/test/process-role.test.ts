import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { becomeReady, startServiceProcess } from '@tollgate/testbed/service-process';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { startAccount } from './suite/account-under-test.ts';
import type { AccountUnderTest } from './suite/account-under-test.ts';
import { insertAccount } from './suite/database/records.ts';
import { accountMetric } from './suite/metrics.ts';
import { makeApplication, operate, operatePath, operatorCredentials } from './suite/operator.ts';
import { openBrowser } from './suite/people.ts';
import { sessionsOf } from './suite/database/sessions.ts';

let api: AccountUnderTest;

beforeAll(async () => {
  api = await startAccount({
    settings: { PROCESS_ROLE: 'api', OPERATOR_CREDENTIALS: operatorCredentials },
  });
});

afterAll(async () => {
  await api.close();
});

async function withWorkers(check: (workers: ServiceProcess) => Promise<void>): Promise<void> {
  const workers = await startServiceProcess('account', { ...api.settings, PROCESS_ROLE: 'workers' });
  try {
    await becomeReady(workers);
    await check(workers);
  } finally {
    await workers.stop();
  }
}

const statusOf = async (url: string) => (await fetch(url)).status;

const sentBy = (process: ServiceProcess) => accountMetric(process, 'tollgate_mail_outbox_deliveries_total');

test('the API alone leaves mails to processes that run workers', async () => {
  const asked = await openBrowser(api.account).request('POST', '/password-reset', {
    email: 'someone@example.com',
  });
  expect(asked.status).toBeLessThan(300);
  const queued = () => api.database('mail_outbox').select('mail_id');
  expect(await queued()).toHaveLength(1);
  await withWorkers(async (workers) => {
    await waitFor(async () => (await queued()).length === 0, { what: 'the mail to leave its queue' });
    expect([await sentBy(api.account), await sentBy(workers)]).toEqual([0, 1]);
  });
});

test('the API alone looks for no work', async () => {
  const text = await (await fetch(`${api.account.privateUrl}/metrics`)).text();
  expect(text).not.toMatch(/^tollgate_(?:mail_outbox|usage_reader|entitlement_outbox)_/m);
  const listening = await sessionsOf(api.database).where({ application_name: 'tollgate listens' });
  expect(listening).toEqual([]);
});

test('the API alone has auth end the tokens of what it revokes, before it answers', async () => {
  const { path } = await makeApplication(api.account, await insertAccount(api.database));
  const { status, body } = await operate(api.account, 'POST', `${path}/revoke`);
  expect([status, body['delivered']]).toEqual([200, true]);
});

test('a process without the API answers probes and scrapes, and nothing else', async () => {
  await withWorkers(async ({ publicUrl, privateUrl }) => {
    expect(await statusOf(`${privateUrl}/health/live`)).toBe(200);
    expect(await statusOf(`${privateUrl}/metrics`)).toBe(200);
    expect((await operatePath({ privateUrl }, 'GET', '/private/plans')).status).toBe(404);
    await expect(fetch(`${publicUrl}/user`)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
  });
});
