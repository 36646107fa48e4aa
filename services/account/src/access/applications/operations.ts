import { z } from 'zod';
import { Reply, operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { cutPage, lookAhead } from '../../http/input/page.ts';
import { idParameter } from '../../http/input/id-parameter.ts';
import { session } from '../../identity/sessions/require-session.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import { operator } from '../../platform/audit/private-callers.ts';
import { operatorAccess, ownerAccess } from './access.ts';
import type { Access } from './access.ts';
import {
  applicationListAnswerSchema,
  applicationSchema,
  changedApplicationSchema,
  newApplicationAnswerSchema,
  readApplicationSchema,
  rotatedSecretSchema,
} from './answers.ts';
import type { Application } from './application.ts';
import type { Applications } from './applications.ts';
import {
  applicationListSchema,
  changesSchema,
  newApplicationSchema,
  operatedListSchema,
  ownApplicationSchema,
  rotationSchema,
  verificationSchema,
} from './input.ts';
import { lifespanLabel } from './rules.ts';

type Needs = { applications: Applications };

const EXAMPLE = { name: 'Nightly report', type: 'automatic', token_lifespan_sec: 86_400 };

const LIST = {
  operationId: 'listApplications',
  summary: 'List applications, newest first',
  answers: { 200: { description: 'One page.', schema: applicationListAnswerSchema } },
};

/** After a 503, repeating may make a second application. */
const CREATE = {
  operationId: 'createApplication',
  summary: 'Create an application',
  answers: {
    201: {
      description: 'The application with its client secret.',
      schema: newApplicationAnswerSchema,
      headers: { Location: 'Path of the application.' },
    },
  },
};

const ownList = operation('GET /api/console/applications', {
  ...LIST,
  caller: session,
  query: applicationListSchema,
  handle: ({ applications }: Needs, { by, query }) => listed(applications, by.account_id, query),
});

const ownCreation = operation('POST /api/console/applications', {
  ...CREATE,
  caller: session,
  guard: ownerAccess.mayCreate,
  body: ownApplicationSchema,
  example: EXAMPLE,
  problems: [...ownerAccess.refusals, 'application_limit_reached'],
  handle: async ({ applications }: Needs, { by, body }) =>
    created(await applications.create({ ...body, account_id: by.account_id }, by.actor), ownerAccess.path),
});

const operatedList = operation('GET /private/applications', {
  ...LIST,
  description: 'Of one account or of all.',
  caller: operator,
  roles: ['viewer'],
  query: operatedListSchema,
  handle: ({ applications }: Needs, { query }) => listed(applications, query.account_id ?? null, query),
});

const operatedCreation = operation('POST /private/applications', {
  ...CREATE,
  caller: operator,
  roles: ['admin'],
  body: newApplicationSchema,
  example: { account_id: 42, ...EXAMPLE },
  problems: ['application_limit_reached'],
  handle: async ({ applications }: Needs, { by, body }) =>
    created(await applications.create(body, by.actor), operatorAccess.path),
});

const operatedOne = z.object({ application_id: idParameter });

/** Ten redirect URIs of 2,000 characters, and two names. */
const MAX_VERIFICATION_BYTES = 32_768;

const VERIFIED = { 200: { description: 'The application.', schema: applicationSchema } };

const verification = operation('POST /private/applications/{application_id}/verify', {
  operationId: 'verifyApplication',
  summary: 'Verify an application that acts for other people',
  description:
    'People who are asked to authorize it read that it is verified. Check who is behind its name, its account’s name ' +
    'and its redirect URIs first, and say in the reason how. Send what you have checked: if it is different by now, ' +
    'nothing is verified (`changed_meanwhile`). A later change of any of them ends the verification.',
  caller: operator,
  roles: ['support'],
  needsReason: true,
  params: operatedOne,
  body: verificationSchema,
  maxBodyBytes: MAX_VERIFICATION_BYTES,
  example: { name: 'Chart maker', developer: 'Ada', redirect_uris: ['https://charts.example/callback'] },
  answers: VERIFIED,
  problems: ['application_revoked', 'changed_meanwhile', 'invalid_request'],
  handle: async ({ applications }: Needs, { by, params: { application_id }, body }) =>
    answer(await applications.verify(application_id, body, by.actor)),
});

const verificationEnd = operation('DELETE /private/applications/{application_id}/verification', {
  operationId: 'endApplicationVerification',
  summary: 'End the verification of an application',
  description: 'What people have authorized stays. To end that, revoke the application.',
  caller: operator,
  roles: ['support'],
  params: operatedOne,
  answers: VERIFIED,
  handle: async ({ applications }: Needs, { by, params: { application_id } }) =>
    answer(await applications.endVerification(application_id, by.actor)),
});

export const ownerApplications = {
  title: 'Applications',
  description: 'The applications of the account. Those of other accounts are `not_found`.',
  operations: [ownList, ownCreation, ...operationsOnOne(ownerAccess)],
} satisfies Chapter;

export const operatorApplications = {
  title: 'Applications',
  description: 'The applications of all accounts.',
  operations: [
    operatedList,
    operatedCreation,
    ...operationsOnOne(operatorAccess),
    verification,
    verificationEnd,
  ],
} satisfies Chapter;

function operationsOnOne<By extends { actor: Actor }>(access: Access<By>) {
  const { caller, ownerOf, mayCreate, refusals } = access;
  const path = `${access.path}/applications/{application_id}` as const;
  const params = z.object({ application_id: idParameter });
  return [
    operation(`GET ${path}`, {
      operationId: 'getApplication',
      summary: 'Get an application',
      caller,
      roles: ['viewer'],
      params,
      answers: { 200: { description: 'The application.', schema: readApplicationSchema } },
      handle: async ({ applications }: Needs, { by, params: { application_id } }) => {
        const found = await applications.find({ application_id, owner_id: ownerOf(by) });
        return {
          ...answer(found.application),
          secrets: found.secrets.map(({ created_at, expires_at }) => ({ created_at, expires_at })),
          active_manual_tokens: found.active_manual_tokens,
        };
      },
    }),
    operation(`PATCH ${path}`, {
      operationId: 'changeApplication',
      summary: 'Change the name, the token lifespan or the redirect URIs of an application',
      description: 'A new lifespan applies to new tokens only, and new redirect URIs to new authorizations.',
      caller,
      roles: ['admin'],
      params,
      body: changesSchema,
      example: { name: 'Weekly report' },
      answers: { 200: { description: 'The application.', schema: changedApplicationSchema } },
      handle: async ({ applications }: Needs, { by, params: { application_id }, body }) =>
        changed(await applications.change({ application_id, owner_id: ownerOf(by) }, body, by.actor)),
    }),
    operation(`DELETE ${path}`, {
      operationId: 'deleteApplication',
      summary: 'Delete an application',
      description: 'Its tokens and client credentials stop working. Deletion is final.',
      caller,
      roles: ['admin'],
      params,
      answers: { 204: { description: 'Deleted.' } },
      handle: async ({ applications }: Needs, { by, params: { application_id } }) => {
        await applications.remove({ application_id, owner_id: ownerOf(by) }, by.actor);
      },
    }),
    operation(`POST ${path}/revoke`, {
      operationId: 'revokeApplication',
      summary: 'Revoke an application',
      description:
        'Its tokens and client credentials stop working. It stays listed. Rotating its secret reactivates it; its old ' +
        'tokens stay revoked.',
      caller,
      roles: ['support'],
      params,
      answers: { 200: { description: 'The application.', schema: changedApplicationSchema } },
      handle: async ({ applications }: Needs, { by, params: { application_id } }) =>
        changed(await applications.revoke({ application_id, owner_id: ownerOf(by) }, by.actor)),
    }),
    operation(`POST ${path}/rotate-secret`, {
      operationId: 'rotateApplicationSecret',
      summary: 'Rotate the client secret',
      description:
        'The previous secret works for another `overlap_sec` seconds; until then, another rotation returns ' +
        '`previous_secret_active`, unless it is ended. A revoked application becomes active again.',
      caller,
      roles: ['admin'],
      guard: mayCreate,
      params,
      body: rotationSchema,
      example: { overlap_sec: 3_600 },
      answers: { 200: { description: 'The application with its new secret.', schema: rotatedSecretSchema } },
      problems: [...refusals, 'previous_secret_active'],
      handle: async ({ applications }: Needs, { by, params: { application_id }, body }) => {
        const key = { application_id, owner_id: ownerOf(by) };
        const rotated = await applications.rotateSecret(key, body.overlap_sec, by.actor);
        const { client_secret, previous_secret_expires_at } = rotated;
        return { ...changed(rotated), client_secret, previous_secret_expires_at };
      },
    }),
    operation(`DELETE ${path}/previous-secret`, {
      operationId: 'endPreviousApplicationSecret',
      summary: 'End the previous client secret',
      description: 'Ends the overlap of a rotation. Succeeds also if there is no previous secret.',
      caller,
      roles: ['admin'],
      params,
      answers: { 200: { description: 'The application.', schema: changedApplicationSchema } },
      handle: async ({ applications }: Needs, { by, params: { application_id } }) =>
        changed(await applications.endPreviousSecret({ application_id, owner_id: ownerOf(by) }, by.actor)),
    }),
  ];
}

async function listed(
  { list }: Pick<Applications, 'list'>,
  accountId: number | null,
  wanted: z.output<typeof applicationListSchema>,
) {
  const { status = null, type = null, search = null } = wanted;
  const found = await list(accountId, { ...lookAhead(wanted), status, type, search });
  const { rows, next_cursor } = cutPage(found, wanted, ({ application_id }) => application_id);
  return { applications: rows.map(answer), next_cursor };
}

function created(
  { application, client_secret }: { application: Application; client_secret: string | null },
  path: string,
) {
  const location = `${path}/applications/${String(application.application_id)}`;
  return new Reply(201, { ...answer(application), client_secret }, { location });
}

function changed({ application, delivered }: { application: Application; delivered: boolean }) {
  return { ...answer(application), delivered };
}

function answer(application: Application) {
  const { application_id, account_id, name, type, token_lifespan_sec, client_id } = application;
  const { status, revocation_epoch, created_at, last_used_at, budget } = application;
  const { public_client, redirect_uris, verified_at } = application;
  return {
    application_id,
    account_id,
    name,
    type,
    token_lifespan_sec,
    token_lifespan_label: lifespanLabel(token_lifespan_sec),
    client_id,
    status,
    revocation_epoch,
    created_at,
    last_used_at,
    budget,
    public_client,
    redirect_uris,
    verified_at,
  };
}
