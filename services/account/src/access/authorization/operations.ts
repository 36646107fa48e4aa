import { z } from 'zod';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { instant } from '../../http/answer-fields.ts';
import { session } from '../../identity/sessions/require-session.ts';
import { CREATION_REFUSALS, mayCreate } from '../authentication/may-create.ts';
import type { Consent } from './consent.ts';

type Needs = { consent: Consent };

const requestSchema = z
  .object({
    application: z.object({
      name: z.string(),
      client_id: z
        .string()
        .meta({ description: 'A UUID, or the address of a document about the application.' }),
      developer: z.string().nullable().meta({
        description: 'The name of the account that the application belongs to; null if it registered itself.',
      }),
      is_verified: z.boolean().meta({
        description: 'Whether an operator has verified its name, its developer and its redirect URIs.',
      }),
    }),
    redirect_host: z
      .string()
      .nullable()
      .meta({ description: 'Where the person is sent; null for an application on their own device.' }),
    redirect_scheme: z.string().meta({
      description:
        '`https`; `http` for a program on the person’s own computer; otherwise a scheme of an application on their device.',
    }),
    scopes: z.array(z.string()).meta({ description: 'What it asks for: `api`, `mcp`, `mcp:write`.' }),
    account: z.object({ name: z.string(), email: z.string() }),
    payer: z
      .object({
        is_own: z.boolean().meta({ description: 'Whether the account pays for its calls itself.' }),
        name: z.string(),
        team_name: z.string().nullable(),
      })
      .meta({ description: 'Who pays for the calls, as of now; it follows the account’s team.' }),
    is_forbidden_by_team: z
      .boolean()
      .meta({ description: 'Whether the account’s team forbids it: then it can only be refused.' }),
    expires_at: instant,
  })
  .meta({ id: 'AuthorizationRequest' });

const answered = z.object({
  redirect_to: z.string().meta({ description: 'The address that the browser has to go to.' }),
});

const path = '/api/console/authorization-requests/{request_id}';
const params = z.object({
  request_id: z.string().max(100).meta({ description: 'From the address of the consent page.' }),
});

export const ownerAuthorization = {
  title: 'Authorization requests',
  description: 'What applications that act for other people ask for, until the person answers.',
  operations: [
    operation(`GET ${path}`, {
      operationId: 'getAuthorizationRequest',
      summary: 'Get what an application asks for',
      description: '`not_found` once it was answered, or ten minutes after it was made.',
      caller: session,
      params,
      answers: { 200: { description: 'The request.', schema: requestSchema } },
      handle: ({ consent }: Needs, { by, params: { request_id } }) => consent.describe(request_id, by),
    }),
    operation(`POST ${path}/allow`, {
      operationId: 'allowAuthorizationRequest',
      summary: 'Authorize the application',
      description:
        'It can then make calls for the account, until its owner disconnects it. A viewer of a team can’t, nor a member of a team that forbids it (`forbidden`).',
      caller: session,
      guard: mayCreate,
      params,
      answers: { 200: { description: 'Authorized.', schema: answered } },
      problems: CREATION_REFUSALS,
      handle: async ({ consent }: Needs, { by, params: { request_id } }) => ({
        redirect_to: await consent.allow(request_id, by),
      }),
    }),
    operation(`POST ${path}/deny`, {
      operationId: 'denyAuthorizationRequest',
      summary: 'Refuse the application',
      caller: session,
      params,
      answers: { 200: { description: 'Refused.', schema: answered } },
      handle: async ({ consent }: Needs, { params: { request_id } }) => ({
        redirect_to: await consent.deny(request_id),
      }),
    }),
  ],
} satisfies Chapter;
