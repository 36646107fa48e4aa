import { expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { waitFor } from '@tollgate/stack/wait-for';
import { startServiceProcess } from '@tollgate/testbed/service-process';
import { insertPerson, signedInBrowser, startPeople } from '../../../test/suite/people.ts';
import {
  insertAccount,
  insertApplication,
  insertSecret,
  insertTeam,
} from '../../../test/suite/database/records.ts';

const DAY_MS = 86_400_000;

test('what was kept for as long as usage is, goes; ended secrets and temporary tokens go, those made by hand stay', async () => {
  const suite = await startPeople({ HOUSEKEEPING_INTERVAL_SEC: '1' });
  try {
    const { database } = suite;
    const account_id = await insertAccount(database);
    const own = await insertApplication(database, account_id);
    const hidden = await insertApplication(database, account_id);
    await database('applications')
      .where({ application_id: hidden.application_id })
      .update({ type: 'temporary' });
    const secret = await insertSecret(database, own.application_id, new Date(Date.now() - 1_000));
    const live = await insertSecret(database, own.application_id, new Date(Date.now() + 3_600_000));
    expect(secret).not.toBe(live);
    const token = (application_id: number, daysAgo: number) => ({
      application_id,
      name: 'Token',
      token_hash: randomBytes(32).toString('base64url'),
      sealing_key_id: 'k1',
      sealed_nonce: randomBytes(12),
      sealed_token: randomBytes(8),
      revocation_epoch: 0,
      issued_at: new Date(Date.now() - (daysAgo + 1) * DAY_MS),
      expires_at: new Date(Date.now() - daysAgo * DAY_MS),
    });
    await database('access_tokens').insert([
      token(own.application_id, 2),
      token(own.application_id, 500),
      token(hidden.application_id, 2),
      token(hidden.application_id, 0.5),
    ]);
    const unassigned = (entry_id: string, daysAgo: number) => ({
      stream: 's',
      entry_id,
      reason: 'malformed_batch',
      raw: '',
      recorded_at: new Date(Date.now() - daysAgo * DAY_MS),
    });
    await database('usage_unassigned').insert([unassigned('old', 500), unassigned('new', 300)]);
    const key = (idempotency_key: string, daysAgo: number) => ({
      reporter: 'v1',
      idempotency_key,
      content_hash: randomBytes(32).toString('base64url'),
      period_id: 1,
      occurred_at: new Date(Date.now() - daysAgo * DAY_MS),
    });
    await database('usage_reports').insert([key('old', 500), key('new', 400)]);
    const event = (stripe_event_id: string, daysAgo: number | null) => ({
      stripe_event_id,
      type: 'checkout.session.completed',
      object_id: stripe_event_id,
      body: Buffer.from('{}'),
      created_at: new Date(Date.now() - 60 * DAY_MS),
      outcome: daysAgo === null ? null : 'applied',
      handled_at: daysAgo === null ? null : new Date(Date.now() - daysAgo * DAY_MS),
      next_attempt_at: daysAgo === null ? new Date(Date.now() + DAY_MS) : null,
    });
    await database('payment_events').insert([event('old', 31), event('new', 29), event('due', null)]);
    await waitFor(async () => (await database('payment_events').select()).length === 2);
    expect(await database('payment_events').orderBy('stripe_event_id').pluck('stripe_event_id')).toEqual([
      'due',
      'new',
    ]);
    await waitFor(async () => (await database('usage_reports').select()).length === 1);
    await waitFor(async () => (await database('usage_unassigned').select()).length === 1);
    await waitFor(async () => (await database('access_tokens').select()).length === 2);
    const ofOwn = { application_id: own.application_id };
    await waitFor(async () => (await database('application_secrets').where(ofOwn)).length === 2);
    expect(await database('access_tokens').pluck('application_id')).toEqual(
      expect.arrayContaining([own.application_id, hidden.application_id]),
    );
    expect(await database('usage_reports').pluck('idempotency_key')).toEqual(['new']);
    expect(suite.account.logs()).not.toContain('could not be removed');
  } finally {
    await suite.close();
  }
});

test('what has expired goes, by two replicas at once, however much it is; what has not stays', async () => {
  const suite = await startPeople({ HOUSEKEEPING_INTERVAL_SEC: '1' });
  const replica = await startServiceProcess('account', suite.settings);
  try {
    const { database } = suite;
    const person = await insertPerson(database);
    const browser = await signedInBrowser(suite.account, person);
    const { account_id } = person;
    const past = new Date(Date.now() - 1_000);
    const later = new Date(Date.now() + 3_600_000);
    const session = (expires_at: Date, last_seen_at: Date) => ({
      account_id,
      token_hash: randomBytes(32),
      expires_at,
      last_seen_at,
      address: '192.0.2.1',
      user_agent: '',
    });
    const link = (expires_at: Date) => ({
      token_hash: randomBytes(32),
      purpose: 'reset_password',
      email: person.email,
      account_id,
      expires_at,
    });
    await database('sessions').insert([
      session(later, new Date(Date.now() - 604_801_000)),
      ...Array.from({ length: 2_500 }, () => session(past, new Date())),
    ]);
    await database('email_tokens').insert([link(later), link(past), link(past)]);
    await database('attempt_counts').insert({ subject: 'past', attempts: 1, window_ends_at: past });
    const manager = await insertAccount(database);
    await insertTeam(database, manager);
    const { team_id } = (await database('team_members').where({ account_id: manager }).first()) as {
      team_id: number;
    };
    await database('team_invitations').insert([
      {
        team_id,
        email: 'past@example.com',
        invited_by: manager,
        expires_at: new Date(Date.now() - 14 * DAY_MS - 1_000),
      },
      { team_id, email: 'later@example.com', invited_by: manager, expires_at: later },
    ]);
    const [{ webhook_id } = { webhook_id: 0 }] = await database('webhooks')
      .insert({ account_id, url: 'https://hooks.example/', description: '' })
      .returning<{ webhook_id: number }[]>('webhook_id');
    const secret = (expires_at: Date | null) => ({
      webhook_id,
      sealing_key_id: 'k1',
      sealed_nonce: randomBytes(12),
      sealed_secret: randomBytes(60),
      expires_at,
    });
    await database('webhook_secrets').insert([secret(past), secret(later), secret(null)]);
    const longAgo = new Date(Date.now() - 2_592_001_000);
    const delivery = (status: string, created_at: Date) => ({
      webhook_id,
      message_id: randomBytes(16).toString('hex'),
      event_type: 'webhook.test',
      payload: '{}',
      status,
      next_attempt_at: status === 'pending' ? later : null,
      created_at,
    });
    await database.transaction(async (transaction) => {
      const deliveries = await transaction('webhook_deliveries')
        .insert([
          delivery('delivered', longAgo),
          delivery('failed', longAgo),
          delivery('pending', longAgo),
          delivery('delivered', new Date()),
        ])
        .returning<{ delivery_id: number }[]>('delivery_id');
      const attempts = deliveries.map((of) => ({ ...of, attempt: 1, attempted_at: longAgo }));
      await transaction('webhook_delivery_attempts').insert(attempts);
    });
    await waitFor(async () => (await database('webhook_deliveries').select()).length === 2);
    expect(await database('webhook_delivery_attempts').select()).toHaveLength(2);
    await waitFor(async () => (await database('webhook_secrets').select()).length === 2);
    await waitFor(async () => (await database('sessions').select()).length === 1);
    await waitFor(async () => (await database('team_invitations').select()).length === 1);
    await waitFor(async () => (await database('email_tokens').select()).length === 1);
    await waitFor(async () => (await database('attempt_counts').where({ subject: 'past' })).length === 0);
    expect((await browser.request('GET', '/session')).status).toBe(200);
    // The count of the sign-in is still within its window.
    expect(await database('attempt_counts').select()).toHaveLength(3);
    expect(suite.account.logs() + replica.logs()).not.toContain('could not be removed');
  } finally {
    await replica.stop();
    await suite.close();
  }
});
