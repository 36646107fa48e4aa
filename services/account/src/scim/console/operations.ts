import { z } from 'zod';
import type { Answer } from '@tollgate/contracts/api-description';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { unblocked } from '../../billing/entitlements/refuse-blocked.ts';
import type { BlockedNeeds } from '../../billing/entitlements/refuse-blocked.ts';
import { id, instant } from '../../http/answer-fields.ts';
import { idParameter } from '../../http/input/id-parameter.ts';
import { nameSchema } from '../../http/input/name.ts';
import { memberRoleSchema } from '../../identity/accounts/member-roles.ts';
import { session } from '../../identity/sessions/require-session.ts';
import type { SignedIn } from '../../identity/sessions/require-session.ts';
import { requireConfirmed } from '../../identity/two-factor/confirmation.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { managedTeam } from '../../teams/domains/changes.ts';
import type { MembershipNeeds } from '../people/membership.ts';
import { isManual } from '../settings/roles.ts';
import { findSettings, listGroupRoles, wantedRoles } from '../settings/store.ts';
import { listScimTokens } from '../tokens/store.ts';
import type { ScimToken } from '../tokens/store.ts';
import { changeSettings, createToken, endProvisioning, revokeToken } from './changes.ts';
import { countPeople, listGroupNames, listRefusals } from './store.ts';

type Needs = { query: Query; transact: Transact; scimBaseUrl: string };

const MAX_GROUP_ROLES = 50;
const DEFAULT_LIFESPAN_DAYS = 365;
const MAX_LIFESPAN_DAYS = 730;

const tokenSchema = z
  .object({
    scim_token_id: id,
    created_at: instant,
    expires_at: instant,
    last_used_at: instant.nullable().meta({ description: 'To the minute.' }),
    last_error: z
      .object({ at: instant, text: z.string() })
      .nullable()
      .meta({ description: 'The last request of the directory that was refused.' }),
  })
  .meta({ id: 'ProvisioningToken' });

const groupRoleSchema = z.strictObject({ group_name: nameSchema, member_role: memberRoleSchema });

const settingsSchema = z.strictObject({
  default_role: memberRoleSchema,
  keeps_manual_roles: z.boolean('must be true or false').meta({
    description: 'Whether a role that the manager set stays when groups say otherwise.',
  }),
  group_roles: z
    .array(groupRoleSchema)
    .max(MAX_GROUP_ROLES, `must have at most ${String(MAX_GROUP_ROLES)} entries`)
    .meta({
      description: 'Roles by the names of groups, in either case. Of several, a member has the strongest.',
    }),
});

const provisioningSchema = z
  .object({
    base_url: z.string().meta({ description: 'What the directory is told.' }),
    settings: settingsSchema
      .nullable()
      .meta({ description: 'Null until the first token, which begins the provisioning.' }),
    tokens: z.array(tokenSchema),
    people: z.object({
      active: z.int(),
      inactive: z.int().meta({ description: 'Known to the directory, and not in the team.' }),
    }),
    groups: z.array(z.object({ display_name: z.string(), members: z.int() })),
    manual_roles: z
      .array(z.object({ account_id: id, email: z.string(), member_role: memberRoleSchema }))
      .meta({ description: 'Members whose role was set by hand.' }),
    refused: z.array(z.object({ email: z.string(), refused_at: instant })).meta({
      description: 'People who have an account of their own. They join by an invitation.',
    }),
  })
  .meta({ id: 'Provisioning' });

const PROVISIONING = {
  description: 'How the team is provisioned.',
  schema: provisioningSchema,
} satisfies Answer;

export const ownerProvisioning = {
  title: 'Provisioning',
  description:
    "A company's directory adds and removes the team's members by SCIM 2.0, below `/scim/v2`. For the manager only.",
  operations: [
    operation('GET /api/console/team/provisioning', {
      operationId: 'getTeamProvisioning',
      summary: 'Get how the team is provisioned',
      caller: session,
      answers: { 200: PROVISIONING },
      problems: ['forbidden', 'not_found'],
      handle: async (needs: Needs, { by }) => answerOf(needs, await managedTeam(needs.query, by)),
    }),
    operation('PUT /api/console/team/provisioning', {
      operationId: 'setTeamProvisioning',
      summary: 'Set the roles of provisioned members',
      description: 'Members get them at once. Returns `not_found` before the first token.',
      caller: session,
      body: settingsSchema,
      example: {
        default_role: 'developer',
        keeps_manual_roles: false,
        group_roles: [{ group_name: 'Finance', member_role: 'billing' }],
      },
      answers: { 200: PROVISIONING },
      problems: ['not_found'],
      handle: async (needs: Needs, { by, body }) => {
        await needs.transact((inside) => changeSettings(inside, by, body));
        return answerOf(needs, await managedTeam(needs.query, by));
      },
    }),
    operation('POST /api/console/team/provisioning/tokens', {
      operationId: 'createProvisioningToken',
      summary: 'Create a token for the directory',
      description:
        'At most two at a time, so that one can replace the other. ' +
        'Needs a session that was signed in with a password or passkey, or confirmed, within 15 minutes.',
      caller: session,
      guard: mayCreateToken,
      body: z.strictObject({
        lifespan_days: z
          .int('must be a whole number of days')
          .min(1, 'must be at least 1')
          .max(MAX_LIFESPAN_DAYS, `must be at most ${String(MAX_LIFESPAN_DAYS)}`)
          .optional()
          .meta({ description: `${String(DEFAULT_LIFESPAN_DAYS)} by default.` }),
      }),
      example: { lifespan_days: DEFAULT_LIFESPAN_DAYS },
      answers: {
        201: {
          description: 'The token, which is shown only once.',
          schema: tokenSchema.extend({ token: z.string() }).meta({ id: 'ProvisioningTokenMade' }),
        },
      },
      problems: ['account_blocked', 'confirmation_required', 'not_found', 'token_limit_reached'],
      handle: async ({ transact }: Needs, { by, body }) => {
        const lifespanDays = body.lifespan_days ?? DEFAULT_LIFESPAN_DAYS;
        const { made, token } = await transact((inside) => createToken(inside, by, { lifespanDays }));
        return { ...tokenAnswer(made), token };
      },
    }),
    operation('DELETE /api/console/team/provisioning/tokens/{scim_token_id}', {
      operationId: 'revokeProvisioningToken',
      summary: 'Revoke a token of the directory',
      caller: session,
      params: z.object({ scim_token_id: idParameter }),
      answers: { 204: { description: 'The token was revoked. It is refused from the next request on.' } },
      handle: async ({ transact }: Needs, { by, params }) => {
        await transact((inside) => revokeToken(inside, by, params.scim_token_id));
      },
    }),
    operation('POST /api/console/team/provisioning/end', {
      operationId: 'endTeamProvisioning',
      summary: 'Switch provisioning off',
      description:
        '`keep`: the members stay; those without a password get a mail to choose one. `remove`: the directory’s people ' +
        'leave the team, and what they made in it is revoked. Either way their accounts stay.',
      caller: session,
      body: z.strictObject({ people: z.enum(['keep', 'remove'], 'must be keep or remove') }),
      example: { people: 'keep' },
      answers: { 204: { description: 'Provisioning is off. Its tokens are refused.' } },
      problems: ['not_found'],
      handle: async (needs: Needs & MembershipNeeds, { by, body }) => {
        await endProvisioning(needs, by, body.people);
      },
    }),
  ],
} satisfies Chapter;

/** It adds people and changes their addresses for years, whatever becomes of the session. */
async function mayCreateToken(needs: BlockedNeeds, by: SignedIn): Promise<void> {
  requireConfirmed(needs, by);
  await unblocked(needs, by);
}

function tokenAnswer({ last_error_at, last_error, ...token }: ScimToken): z.output<typeof tokenSchema> {
  const isRefused = last_error_at !== null && last_error !== null;
  return { ...token, last_error: isRefused ? { at: last_error_at, text: last_error } : null };
}

async function answerOf(
  { query, scimBaseUrl }: Pick<Needs, 'query' | 'scimBaseUrl'>,
  teamId: number,
): Promise<z.output<typeof provisioningSchema>> {
  const settings = await findSettings(query, teamId);
  const roles = await wantedRoles(query, teamId, null);
  return {
    base_url: scimBaseUrl,
    settings:
      settings === undefined ? null : { ...settings, group_roles: await listGroupRoles(query, teamId) },
    tokens: (await listScimTokens(query, teamId)).map(tokenAnswer),
    people: await countPeople(query, teamId),
    groups: await listGroupNames(query, teamId),
    manual_roles: roles
      .filter(isManual)
      .map(({ account_id, email, member_role }) => ({ account_id, email, member_role })),
    refused: await listRefusals(query, teamId),
  };
}
