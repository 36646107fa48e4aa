import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { hash } from 'node:crypto';
import { entitlementSchema } from '@tollgate/contracts/entitlement';
import { trustedDocumentsSchema } from '@tollgate/contracts/trusted-documents';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import { makeOwnApplication, newOwner } from '../../../test/suite/console.ts';
import type { OwnApplication, Owner } from '../../../test/suite/console.ts';
import { insertPeriod } from '../../../test/suite/database/records.ts';
import { operatePath, operatorCredentials } from '../../../test/suite/operator.ts';
import { getPrivate } from '../../../test/suite/requests.ts';

const READ = 'query Read { a }';
const WRITE = 'mutation Write { b }';

let suite: AccountUnderTest;
let owner: Owner;
let application: OwnApplication;
let documents: string;

beforeAll(async () => {
  suite = await startAccount({ settings: { OPERATOR_CREDENTIALS: operatorCredentials } });
});

beforeEach(async () => {
  owner = await newOwner(suite);
  await insertPeriod(suite.database, owner.account_id);
  application = await makeOwnApplication(owner.browser);
  documents = `${application.path}/trusted-documents`;
});

afterAll(() => suite.close());

const register = (body: object, { browser } = owner) => browser.request('POST', documents, body);

const named = (text: string, name: string | null, document_id: string | null = null) => ({
  api_version: 'v2',
  sha256: hash('sha256', text),
  document_id,
  name,
});

async function ofGateways() {
  const path = `/private/trusted-documents/${String(application.application_id)}`;
  return trustedDocumentsSchema.parse(await (await getPrivate(suite.account, path)).json());
}

async function limited() {
  const answer = await getPrivate(suite.account, `/private/entitlements/${String(owner.account_id)}`);
  return entitlementSchema.parse(await answer.json()).limited_applications;
}

test('an application that acts for other people can’t be limited: its users’ connections make the calls', async () => {
  const made = await owner.browser.request('POST', '/applications', {
    name: 'Acts',
    type: 'authorization',
    token_lifespan_sec: 3_600,
    redirect_uris: ['https://app.example/callback'],
  });
  const path = `/applications/${String(made.body['application_id'])}/trusted-documents`;
  const answers = [
    await owner.browser.request('PUT', path, { enforced: true }),
    await owner.browser.request('POST', path, { documents: [{ text: READ }] }),
  ];
  expect(answers.map(({ status, body }) => [status, body['code']])).toEqual([
    [400, 'invalid_request'],
    [400, 'invalid_request'],
  ]);
});

describe('registering documents', () => {
  test('adds those that are new, reports them, and gives gateways their texts', async () => {
    const first = await register({ documents: [{ document_id: 'read', text: READ }] });
    expect([first.status, first.body]).toEqual([
      200,
      {
        application_id: application.application_id,
        dry_run: false,
        new_documents: [named(READ, 'Read', 'read')],
        known_documents: 0,
        changed_ids: [],
      },
    ]);
    const second = await register({ documents: [{ text: READ }, { text: WRITE }, { text: '{ c }' }] });
    expect(second.body).toMatchObject({
      new_documents: [named(WRITE, 'Write'), named('{ c }', null)],
      known_documents: 1,
    });
    expect((await owner.browser.request('GET', documents)).body).toMatchObject({
      enforced: false,
      documents: expect.arrayContaining([
        expect.objectContaining({ ...named(READ, 'Read', 'read'), length: READ.length }),
      ]),
    });
    const { documents: texts } = await ofGateways();
    expect(texts.map(({ text }) => text).toSorted()).toEqual([WRITE, READ, '{ c }']);
  });

  test('as a dry run only reports', async () => {
    const answer = await register({ documents: [{ text: READ }], dry_run: true });
    expect(answer.body).toMatchObject({ dry_run: true, new_documents: [named(READ, 'Read')] });
    expect(await ofGateways()).toEqual({ revision: 0, documents: [] });
  });

  test('again changes nothing, and moves an id to the document that has it now', async () => {
    await register({ documents: [{ document_id: 'x', text: READ }] });
    const before = await ofGateways();
    await register({ documents: [{ document_id: 'x', text: READ }] });
    expect(await ofGateways()).toEqual(before);
    await register({ documents: [{ document_id: 'x', text: WRITE }] });
    const { documents: texts } = await ofGateways();
    expect(Object.fromEntries(texts.map(({ text, document_id }) => [text, document_id]))).toEqual({
      [READ]: null,
      [WRITE]: 'x',
    });
  });

  test('reports which ids change, as a dry run, too', async () => {
    const both = (read: string, write: string) => ({
      documents: [
        { document_id: read, text: READ },
        { document_id: write, text: WRITE },
      ],
    });
    const changed = (text: string, document_id: string | null, former_document_id: string | null) => {
      const { api_version, sha256 } = named(text, null);
      return { api_version, sha256, document_id, former_document_id };
    };
    await register(both('x', 'y'));
    const before = await ofGateways();
    for (const [documents, ids] of [
      [both('x', 'y').documents, []],
      [both('x', 'z').documents, [changed(WRITE, 'z', 'y')]],
      [both('y', 'x').documents, [changed(READ, 'y', 'x'), changed(WRITE, 'x', 'y')]],
      [[{ document_id: 'x', text: WRITE }], [changed(READ, null, 'x'), changed(WRITE, 'x', 'y')]],
      [[{ text: READ }, { text: WRITE }], []],
    ] as const) {
      const { body } = await register({ documents, dry_run: true });
      expect(body['changed_ids']).toEqual(expect.arrayContaining([...ids]));
      expect(body['changed_ids']).toHaveLength(ids.length);
    }
    expect(await ofGateways()).toEqual(before);
    const { body } = await register(both('x', 'z'));
    expect(body['changed_ids']).toEqual([changed(WRITE, 'z', 'y')]);
  });

  test('is refused beyond what gateways keep, with one id twice, and with text that cannot be kept', async () => {
    const long = Array.from({ length: 17 }, (_, index) => ({ text: `#${String(index)}`.padEnd(65_000) }));
    for (const body of [
      { documents: long },
      {
        documents: [
          { document_id: 'x', text: READ },
          { document_id: 'x', text: WRITE },
        ],
      },
      { documents: [{ text: 'a\0' }] },
      { documents: [{ text: '' }] },
      { documents: [], api_version: 'v3' },
    ]) {
      expect((await register(body)).status).toBe(400);
    }
    expect(await ofGateways()).toEqual({ revision: 0, documents: [] });
  });

  test('of another account is 404', async () => {
    const stranger = await newOwner(suite);
    const { browser } = stranger;
    expect((await register({ documents: [{ text: READ }] }, stranger)).status).toBe(404);
    expect((await browser.request('GET', documents)).status).toBe(404);
    expect((await browser.request('PUT', documents, { enforced: true })).status).toBe(404);
    const path = `${documents}/${hash('sha256', READ)}`;
    expect((await browser.request('DELETE', path)).status).toBe(404);
  });
});

describe('the limit', () => {
  test('is in the entitlement with a revision that grows with each change, and ends', async () => {
    const { application_id } = application;
    await register({ documents: [{ text: READ }, { text: WRITE }] });
    expect(await limited()).toBeUndefined();
    const on = await owner.browser.request('PUT', documents, { enforced: true });
    expect([on.status, on.body['enforced']]).toEqual([200, true]);
    const [first] = (await limited()) ?? [];
    expect(first).toEqual({ application_id, documents_revision: (await ofGateways()).revision });
    await owner.browser.request('DELETE', `${documents}/${hash('sha256', READ)}`);
    const [second] = (await limited()) ?? [];
    expect(second?.documents_revision).toBeGreaterThan(Number(first?.documents_revision));
    expect((await ofGateways()).documents).toMatchObject([{ text: WRITE }]);
    await owner.browser.request('PUT', documents, { enforced: false });
    expect(await limited()).toBeUndefined();
  });

  test('is set by operators, audited, and gone with the application', async () => {
    const { application_id, path } = application;
    const operated = `/private/applications/${String(application_id)}/trusted-documents`;
    await operatePath(suite.account, 'POST', operated, { documents: [{ text: READ }] });
    await operatePath(suite.account, 'PUT', operated, { enforced: true });
    const entries: unknown[] = await suite
      .database('audit_log')
      .where({ application_id, action: 'application_documents_changed' })
      .orderBy('audit_id')
      .pluck('details');
    expect(entries).toMatchObject([{ registered: [hash('sha256', READ)] }, { enforced: true }]);
    expect(JSON.stringify(entries)).not.toContain(READ);
    await owner.browser.request('DELETE', path);
    expect(await limited()).toBeUndefined();
    expect(await ofGateways()).toEqual({ revision: 0, documents: [] });
  });
});
