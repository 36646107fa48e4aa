import { hash } from 'node:crypto';
import type { AccountUnderTest } from '../account-under-test.ts';
import {
  connect,
  newActingApplication,
  newPkce,
  openAuthorize,
  parametersOf,
  requestIdOf,
} from '../authorization.ts';
import { issueOwnToken, makeOwnApplication, newOwner } from '../console.ts';
import type { Owner } from '../console.ts';
import type { ContractOperation } from './contract.ts';
import type { Caller } from './fuzz-request.ts';
import type { Browser } from '../people.ts';
import { insertPeriod } from '../database/records.ts';
import { subscribe, makePublicPlan, previewFor } from '../billing.ts';
import { obtainToken } from '../requests.ts';
import { enrol } from '../stand-ins/two-factor.ts';
import { inviteTo, joinTeam, makeTeam } from '../team.ts';

type Suite = Pick<AccountUnderTest, 'account' | 'auth' | 'database'>;

/** A caller with everything that the operation needs to succeed; each operation gets its own. */
export async function callerOf(
  operation: Pick<ContractOperation, 'operationId' | 'security' | 'path'>,
  suite: Suite,
): Promise<Caller> {
  const schemes = operation.security.flatMap((one) => Object.keys(one));
  if (schemes.includes('clientSecret')) return clientOf(suite);
  if (schemes.includes('accessToken')) return tokenHolder(suite);
  if (schemes.includes('session')) return signedIn(operation, suite);
  if (operation.operationId !== 'signIn') return { headers: {}, known: { file: 'swagger-ui.css' } };
  const { email, password } = await newOwner(suite);
  return { headers: {}, known: { email, password } };
}

async function clientOf(suite: Suite): Promise<Caller> {
  const { browser } = await newOwner(suite);
  const { client_id, client_secret } = await makeOwnApplication(browser);
  const token = await obtainToken(suite.auth, { client_id, client_secret });
  return { headers: {}, known: { client_id, client_secret, token } };
}

/** With a plan to subscribe or change to; with a subscription unless the operation begins one. */
async function subscriber(path: string, owner: Owner, { account, database }: Suite) {
  const plan_id = await makePublicPlan(account, { points_limit: 1 });
  const known = { plan_id, billing_interval: 'month', team_slots_limit: 4 };
  const present = await makePublicPlan(
    account,
    { points_limit: 0, team_slots_limit: 3 },
    { team_slots_max: 9 },
  );
  const { account_id } = owner;
  await database('billing_periods').where({ account_id }).delete();
  if (path.endsWith('/subscription')) return known;
  await subscribe(account, present, { account_id });
  const { period_id } = await previewFor(owner, known.plan_id);
  return period_id === null ? known : { ...known, period_id };
}

async function newCustomer(suite: Suite): Promise<Owner> {
  const owner = await newOwner(suite);
  await insertPeriod(suite.database, owner.account_id, { description: { points_limit: 1_000_000 } });
  return owner;
}

async function tokenHolder(suite: Suite): Promise<Caller> {
  const { browser } = await newCustomer(suite);
  const { access_token } = await issueOwnToken(browser, await makeOwnApplication(browser));
  return { headers: { authorization: `Bearer ${access_token}` }, known: { query: '{ __typename }' } };
}

type Asked = Pick<ContractOperation, 'operationId' | 'path'>;

async function signedIn(operation: Asked, suite: Suite): Promise<Caller> {
  const owner = await newCustomer(suite);
  const { browser, email, password } = owner;
  const headers = { cookie: browser.cookie ?? '', 'x-csrf-token': browser.csrfToken ?? '' };
  if (operation.operationId === 'cancelAccountDeletion') {
    await browser.request('POST', '/account/deletion', { email, current_password: password });
  }
  const things = await thingsOf(operation, owner, suite);
  return { headers, known: { email, current_password: password, ...things } };
}

/** The path's ids. A caller who accepts an invitation is in no team yet; one who changes a team manages it. */
async function thingsOf(
  { path, operationId }: Asked,
  owner: Owner,
  suite: Suite,
): Promise<Record<string, string | number>> {
  const { browser } = owner;
  if (path.includes('{session_id}')) {
    const { session_id } = (await browser.request('GET', '/session')).body;
    return { session_id: Number(session_id) };
  }
  if (path.includes('/team/applications/')) {
    await makeTeam(owner);
    const member = await newOwner(suite);
    await joinTeam(owner, member);
    return { application_id: (await makeOwnApplication(member.browser)).application_id };
  }
  if (path.includes('{application_id}')) {
    const application = await makeOwnApplication(browser);
    const { token_id } = await issueOwnToken(browser, application);
    const { application_id } = application;
    if (!path.includes('{sha256}')) return { application_id, token_id };
    await browser.request('POST', `${application.path}/trusted-documents`, {
      documents: [{ text: '{ a }' }],
    });
    return { application_id, sha256: hash('sha256', '{ a }') };
  }
  if (path.includes('/console/subscription')) return subscriber(path, owner, suite);
  if (path.includes('/authorization-requests/')) {
    const asked = parametersOf(await newActingApplication(suite), newPkce());
    return { request_id: await requestIdOf(await openAuthorize(suite.account, asked)) };
  }
  if (path.includes('/team/connections/{')) {
    await makeTeam(owner);
    const member = await newOwner(suite);
    await joinTeam(owner, member);
    await connect(suite, await newActingApplication(suite), member.browser);
    const { body } = await browser.request('GET', '/team/connections');
    return { connection_id: (body['connections'] as { connection_id: number }[])[0]?.connection_id ?? 0 };
  }
  if (path.includes('{connection_id}')) {
    await connect(suite, await newActingApplication(suite), browser);
    const { body } = await browser.request('GET', '/connections');
    return { connection_id: (body['connections'] as { connection_id: number }[])[0]?.connection_id ?? 0 };
  }
  if (path.includes('{webhook_id}')) return makeWebhook(browser);
  if (path.endsWith('/session/confirm')) return { password: owner.password };
  // An authenticator app is set up where there is none.
  if (path.includes('/two-factor/') && operationId !== 'setUpTotp') return enrol(owner, suite.database);
  if (path.includes('/console/invitations')) {
    const manager = await newOwner(suite);
    await makeTeam(manager);
    return { invitation_id: await inviteTo(manager, owner) };
  }
  if (!path.includes('/console/team/')) return {};
  await makeTeam(owner);
  if (path.endsWith('/leave')) return {};
  const member = await newOwner(suite);
  await joinTeam(owner, member);
  if (path.includes('{domain_id}')) {
    const made = await browser.request('POST', '/team/domains', { domain: 'company.example' });
    return { domain_id: Number(made.body['domain_id']) };
  }
  if (path.includes('/team/provisioning')) {
    const { body } = await browser.request('POST', '/team/provisioning/tokens', {});
    return { scim_token_id: Number(body['scim_token_id']) };
  }
  const invited = { email: `${String(owner.account_id)}@invited.example` };
  const there = { account_id: member.account_id, invitation_id: await inviteTo(owner, invited) };
  return path.endsWith('/invitations') ? { ...there, email: `second.${invited.email}` } : there;
}

/** At a name that can't exist (RFC 6761, section 6.4), with a delivery. */
async function makeWebhook(browser: Browser): Promise<Record<string, number>> {
  const made = await browser.request('POST', '/webhooks', { url: 'https://hooks.invalid/' });
  const webhook_id = Number(made.body['webhook_id']);
  const tested = await browser.request('POST', `/webhooks/${String(webhook_id)}/test`);
  return { webhook_id, delivery_id: Number(tested.body['delivery_id']) };
}
