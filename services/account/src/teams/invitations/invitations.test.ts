import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { waitFor } from '@tollgate/stack/wait-for';
import { newOwner } from '../../../test/suite/console.ts';
import type { Owner } from '../../../test/suite/console.ts';
import { mailsTo, nthMail, openBrowser, signedInBrowser, startPeople } from '../../../test/suite/people.ts';
import type { PeopleUnderTest } from '../../../test/suite/people.ts';
import { insertPeriod } from '../../../test/suite/database/records.ts';
import { inviteTo, joinTeam, makeTeam } from '../../../test/suite/team.ts';

let suite: PeopleUnderTest;

beforeAll(async () => {
  suite = await startPeople({ LOG_LEVEL: 'trace' });
});

afterAll(async () => {
  await suite.close();
});

const person = () => newOwner(suite);
const newEmail = () => `Invited-${randomUUID()}@example.com`;

async function newManager(teamName = 'Team'): Promise<Owner> {
  const manager = await person();
  await makeTeam(manager, teamName);
  return manager;
}

const invite = ({ browser }: Owner, email: string) => browser.request('POST', '/team/invitations', { email });
const answer = ({ browser }: Owner, id: number, how: 'accept' | 'decline') =>
  browser.request('POST', `/invitations/${String(id)}/${how}`);

test('the mails that an account asks for are limited, however many addresses it calls from', async () => {
  const manager = await newManager();
  const inviteFrom = (address: string) =>
    manager.browser.request(
      'POST',
      '/team/invitations',
      { email: newEmail() },
      { 'x-forwarded-for': address },
    );
  for (let count = 1; count <= 30; count += 1) {
    expect((await inviteFrom(`10.99.${String(count)}.1`)).status).toBe(201);
  }
  const { status, headers } = await inviteFrom('10.99.99.1');
  expect([status, Number(headers.get('retry-after')) > 0]).toEqual([429, true]);
  expect((await invite(await newManager(), newEmail())).status).toBe(201);
});

describe('who is invited by e-mail', () => {
  test('finds it among their invitations, sees who invites, accepts once, and is in the team', async () => {
    const [manager, invited] = [await newManager('Ünï'), await person()];
    const made = await invite(manager, invited.email.toUpperCase());
    const { invitation_id } = made.body as { invitation_id: number };
    expect([made.status, made.body]).toEqual([
      201,
      {
        invitation_id: expect.any(Number),
        email: invited.email.toUpperCase(),
        created_at: expect.any(String),
        expires_at: expect.any(String),
      },
    ]);
    const weekMs = Date.parse(String(made.body['expires_at'])) - Date.parse(String(made.body['created_at']));
    expect(weekMs).toBe(7 * 86_400_000);
    expect((await invited.browser.request('GET', '/invitations')).body).toEqual({
      invitations: [
        { ...made.body, team_name: 'Ünï', invited_by_name: 'Someone', invited_by_email: manager.email },
      ],
    });
    const { body } = await manager.browser.request('GET', '/team');
    expect(body).toMatchObject({ slots: { used: 2, limit: null }, invitations: [made.body] });
    const accepted = await answer(invited, invitation_id, 'accept');
    expect([accepted.status, accepted.body]).toMatchObject([
      200,
      { role: 'member', payer_id: manager.account_id, slots: { used: 2 } },
    ]);
    expect((await answer(invited, invitation_id, 'accept')).status).toBe(404);
    expect((await invited.browser.request('GET', '/invitations')).body).toEqual({ invitations: [] });
    const again = await invite(manager, invited.email);
    expect([again.status, again.body['code']]).toEqual([409, 'already_member']);
  });

  test('without an account: the mail’s link shows it, and whoever signs up with the address finds it', async () => {
    const [manager, email] = [await newManager(), newEmail()];
    await invite(manager, email);
    const { subject, token, text } = await nthMail(suite.mailDirectory, email);
    expect([subject, text]).toEqual([
      `[Tollgate] ${manager.email} invites you to a team`,
      expect.stringContaining('/user/invitation?token='),
    ]);
    expect(text).toContain(`${manager.email} manages the team "Team" on Tollgate`);
    expect(text).not.toContain('Someone');
    const stranger = openBrowser(suite.account);
    const seen = await stranger.request('POST', '/invitations/look-up', { token });
    expect(seen.body).toMatchObject({ email, team_name: 'Team', invited_by_email: manager.email });

    const password = 'a good password';
    await stranger.request('POST', '/sign-up', { email, name: 'New' });
    const verify = await nthMail(suite.mailDirectory, email, 2);
    await stranger.request('POST', '/verify-email', { token: verify.token, password });
    const browser = await signedInBrowser(suite.account, { account_id: 0, email, password });
    const { invitations } = (await browser.request('GET', '/invitations')).body as {
      invitations: { invitation_id: number }[];
    };
    const path = `/invitations/${String(invitations[0]?.invitation_id)}/accept`;
    expect((await browser.request('POST', path)).status).toBe(200);
    expect((await stranger.request('POST', '/invitations/look-up', { token })).status).toBe(404);
  });

  test('accepts by the mail’s link with an account of another address, or declines without any', async () => {
    const [manager, other] = [await newManager(), await person()];
    const [one, two] = [newEmail(), newEmail()];
    const id = await inviteTo(manager, { email: one });
    await inviteTo(manager, { email: two });
    expect((await answer(other, id, 'accept')).status).toBe(404);
    const mails = [await nthMail(suite.mailDirectory, one), await nthMail(suite.mailDirectory, two)];
    const [first, second] = mails.map(({ token }) => ({ token }));
    expect((await other.browser.request('POST', '/invitations/accept', first)).status).toBe(200);
    const stranger = openBrowser(suite.account);
    expect((await stranger.request('POST', '/invitations/decline', second)).status).toBe(204);
    expect((await stranger.request('POST', '/invitations/decline', second)).status).toBe(404);
    expect((await stranger.request('POST', '/invitations/decline', { token: 'x' })).status).toBe(400);
    const { body } = await manager.browser.request('GET', '/team');
    expect(body).toMatchObject({ slots: { used: 2 }, invitations: [] });
    const log = await suite.database('audit_log').where({ action: 'team_invitation_declined' });
    expect(log).toMatchObject([
      { actor: 'unknown', account_id: manager.account_id, details: { email: two } },
    ]);
  });

  test('can decline, and their answer is nobody else’s to give', async () => {
    const [manager, invited, other] = [await newManager(), await person(), await person()];
    const id = await inviteTo(manager, invited);
    for (const how of ['accept', 'decline'] as const) {
      expect((await answer(other, id, how)).status).toBe(404);
      expect((await answer(manager, id, how)).status).toBe(404);
    }
    expect((await answer(invited, id, 'decline')).status).toBe(204);
    expect((await answer(invited, id, 'accept')).status).toBe(404);
    expect((await invite(manager, invited.email)).status).toBe(201);
  });

  test('not any more where it was withdrawn or has expired; the mail that waits isn’t sent', async () => {
    const [manager, invited] = [await newManager(), await person()];
    const id = await inviteTo(manager, invited);
    const { token } = await nthMail(suite.mailDirectory, invited.email);
    const other = await newManager();
    const path = `/team/invitations/${String(id)}`;
    expect((await other.browser.request('DELETE', path)).status).toBe(404);
    expect((await manager.browser.request('DELETE', path)).status).toBe(204);
    expect((await manager.browser.request('DELETE', path)).status).toBe(404);
    expect((await answer(invited, id, 'accept')).status).toBe(404);
    expect((await invited.browser.request('POST', '/invitations/accept', { token })).status).toBe(404);

    const late = await inviteTo(manager, invited);
    await nthMail(suite.mailDirectory, invited.email, 2);
    await waitFor(async () => (await suite.database('mail_outbox').select()).length === 0);
    const past = { expires_at: new Date(Date.now() - 1_000) };
    await suite.database('team_invitations').where({ invitation_id: late }).update(past);
    // Like a mail that waited too long for the mail server.
    await suite
      .database('mail_outbox')
      .insert({ kind: 'team_invitation', recipient: invited.email, invitation_id: late });
    await waitFor(async () => (await suite.database('mail_outbox').select()).length === 0);
    expect(mailsTo(suite.mailDirectory, invited.email)).toHaveLength(2);
    expect((await answer(invited, late, 'accept')).status).toBe(404);
    expect((await invited.browser.request('GET', '/invitations')).body).toEqual({ invitations: [] });
    const listed = async () => {
      const { slots, invitations } = (await manager.browser.request('GET', '/team')).body as {
        slots: { used: number };
        invitations: { email: string; status: string }[];
      };
      return [slots.used, ...invitations.map(({ email, status }) => `${status} ${email}`)];
    };
    expect(await listed()).toEqual([1, `expired ${invited.email}`]);
    const another = newEmail();
    await inviteTo(manager, { email: another });
    expect(await listed()).toEqual([2, `expired ${invited.email}`, `pending ${another}`]);
    expect((await invite(manager, invited.email)).status).toBe(201);
    expect(await listed()).toEqual([3, `pending ${another}`, `pending ${invited.email}`]);
    await suite.database('team_invitations').where({ email: another }).update(past);
    const { invitation_id } = (await suite
      .database('team_invitations')
      .where({ email: another })
      .first()) as { invitation_id: number };
    const removed = await manager.browser.request('DELETE', `/team/invitations/${String(invitation_id)}`);
    expect(removed.status).toBe(204);
    expect(await listed()).toEqual([2, `pending ${invited.email}`]);
  });

  test('who is in a team, or manages one with others, stays; who manages one alone leaves it for this', async () => {
    const [manager, member, alone, other] = [
      await newManager(),
      await person(),
      await newManager(),
      await newManager(),
    ];
    await joinTeam(other, member);
    for (const taken of [member, other]) {
      const refused = await answer(taken, await inviteTo(manager, taken), 'accept');
      expect([refused.status, refused.body['code']]).toEqual([409, 'already_in_team']);
      expect((await taken.browser.request('GET', '/invitations')).body['invitations']).toHaveLength(1);
    }
    const { body } = await answer(alone, await inviteTo(manager, alone), 'accept');
    expect(body).toMatchObject({ role: 'member', payer_id: manager.account_id });
    expect(await suite.database('team_members').where({ account_id: alone.account_id })).toHaveLength(1);
  });
});

describe('an invitation', () => {
  test('is refused with every faulty field named, to an address that has one, and to who is blocked', async () => {
    const [manager, email] = [await newManager(), newEmail()];
    for (const bad of ['a@b', 'a@b.example\r\nBcc: c@d.example', '', 7]) {
      const { status, body } = await manager.browser.request('POST', '/team/invitations', { email: bad });
      expect([status, (body['errors'] as { field: string }[])[0]?.field]).toEqual([400, 'email']);
    }
    await invite(manager, email);
    const again = await invite(manager, email.toLowerCase());
    expect([again.status, again.body['code']]).toEqual([409, 'invitation_pending']);
    const { account_id } = manager;
    await suite.database('accounts').where({ account_id }).update({ blocked_at: new Date() });
    const blocked = await invite(manager, newEmail());
    expect([blocked.status, blocked.body['code']]).toEqual([403, 'account_blocked']);
  });

  test('needs a slot of the manager’s plan: members and pending ones count, also for who accepts under a smaller one', async () => {
    const [manager, member, invited] = [await newManager(), await person(), await person()];
    const period_id = await insertPeriod(suite.database, manager.account_id, {
      description: { team_slots_limit: 3 },
    });
    await joinTeam(manager, member);
    const id = await inviteTo(manager, invited);
    const full = await invite(manager, newEmail());
    expect([full.status, full.body]).toMatchObject([
      409,
      { code: 'team_slots_limit_exceeded', limit: 3, remaining: 0 },
    ]);
    const setLimit = (team_slots_limit: number) =>
      suite.database('billing_periods').where({ period_id }).update({ team_slots_limit });
    await setLimit(2);
    expect((await answer(invited, id, 'accept')).body['code']).toBe('team_slots_limit_exceeded');
    await setLimit(4);
    expect((await invite(manager, newEmail())).status).toBe(201);
    expect((await answer(invited, id, 'accept')).status).toBe(200);
    expect((await manager.browser.request('GET', '/team')).body).toMatchObject({
      slots: { used: 4, limit: 4 },
    });
  });

  test('leaves its mail’s token nowhere but in the mail', async () => {
    const [manager, email] = [await newManager(), newEmail()];
    await invite(manager, email);
    const { token = '' } = await nthMail(suite.mailDirectory, email);
    expect(token).not.toBe('');
    await openBrowser(suite.account).request('POST', '/invitations/look-up', { token, [token]: 1 });
    await openBrowser(suite.account).request('POST', `/invitations/look-up?token=${token}`, { token });
    const tables = ['team_invitations', 'team_invitation_tokens', 'mail_outbox', 'audit_log'];
    const rows = await Promise.all(tables.map((table) => suite.database(table).select()));
    expect(JSON.stringify(rows) + suite.account.logs()).not.toContain(token);
  });
});
