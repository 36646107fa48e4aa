import { z } from 'zod';
import type { Answer } from '@tollgate/contracts/api-description';
import { anyone, operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { Problem } from '@tollgate/http/problem';
import { unblocked } from '../../billing/entitlements/refuse-blocked.ts';
import { countMailRequest } from '../../identity/attempts/mail-limits.ts';
import type { RequestedMails } from '../../identity/attempts/mail-limits.ts';
import { callerOf } from '../../http/caller-address.ts';
import { session } from '../../identity/sessions/require-session.ts';
import {
  changeMemberRole,
  createTeam,
  dissolveTeam,
  handOver,
  leaveTeam,
  removeMember,
  renameTeam,
} from '../changes.ts';
import { invitationOfToken, invitationsTo } from '../invitations/invitation-store.ts';
import { accept, decline, invite, withdraw } from '../invitations/invitations.ts';
import { invitationAnswer, teamView } from './team-view.ts';
import { idParameter } from '../../http/input/id-parameter.ts';
import { tokenSchema } from '../../identity/people/input.ts';
import {
  handedOverSchema,
  invitationSchema,
  receivedInvitationSchema,
  receivedInvitationsSchema,
  teamAnswerSchema,
} from './answers.ts';
import { handOverSchema, invitedSchema, memberRoleChangeSchema, teamSchema } from './input.ts';
import type { Query, Transact } from '../../platform/database/query.ts';

type Needs = { query: Query; transact: Transact };

const TEAM = { description: 'The team, as the caller sees it.', schema: teamAnswerSchema } satisfies Answer;

const ofInvitation = z.object({ invitation_id: idParameter });

const MAILED = { token: 'b3J2aWxsZS13cmlnaHQtYW5kLXdpbGJ1ci13cmlnaHQ' };

export const ownerTeam = {
  title: 'Team',
  description: "The caller's team. Members' calls are billed to the manager's billing period.",
  operations: [
    operation('GET /api/console/team', {
      operationId: 'getTeam',
      summary: 'Get the team',
      description: 'Only the manager sees usage and invitations. Returns `not_found` without a team.',
      caller: session,
      answers: { 200: TEAM },
      problems: ['not_found'],
      handle: ({ query }: Needs, { by }) => teamView(query, by.account_id),
    }),
    operation('POST /api/console/team', {
      operationId: 'createTeam',
      summary: 'Create a team',
      description: 'The caller becomes its manager.',
      caller: session,
      body: teamSchema,
      example: { name: 'Data desk' },
      answers: { 201: TEAM },
      problems: ['already_in_team', 'not_found'],
      handle: async ({ query, transact }: Needs, { by, body: { name } }) => {
        await transact((inside) => createTeam(inside, by, name));
        return teamView(query, by.account_id);
      },
    }),
    operation('PATCH /api/console/team', {
      operationId: 'renameTeam',
      summary: 'Rename the team',
      description: 'Manager only.',
      caller: session,
      body: teamSchema,
      example: { name: 'Data desk' },
      answers: { 200: TEAM },
      problems: ['not_found'],
      handle: async ({ query, transact }: Needs, { by, body: { name } }) => {
        await transact((inside) => renameTeam(inside, by, name));
        return teamView(query, by.account_id);
      },
    }),
    operation('DELETE /api/console/team', {
      operationId: 'dissolveTeam',
      summary: 'Dissolve the team',
      description: 'Manager only. Ends all memberships and invitations.',
      caller: session,
      answers: { 204: { description: 'The team was dissolved.' } },
      problems: ['not_found'],
      handle: async ({ transact }: Needs, { by }) => {
        await transact((inside) => dissolveTeam(inside, by));
      },
    }),
    operation('POST /api/console/team/leave', {
      operationId: 'leaveTeam',
      summary: 'Leave the team',
      description:
        'A manager without other members dissolves the team by leaving. Other managers must hand it over first.',
      caller: session,
      answers: { 204: { description: 'The caller left the team.' } },
      problems: ['not_found', 'team_has_members'],
      handle: async ({ transact }: Needs, { by }) => {
        await transact((inside) => leaveTeam(inside, by));
      },
    }),
    operation('POST /api/console/team/hand-over', {
      operationId: 'handOverTeam',
      summary: 'Make a member the manager and payer',
      description: 'Manager only. The caller becomes a member.',
      caller: session,
      body: handOverSchema,
      example: { account_id: 42 },
      answers: { 200: { description: 'The team, as a member sees it.', schema: handedOverSchema } },
      problems: ['not_found', 'sso_needs_second_factor'],
      handle: async (
        { query, transact, wakeMails }: Needs & { wakeMails: () => void },
        { by, body: { account_id } },
      ) => {
        await transact((inside) => handOver(inside, by, account_id));
        wakeMails();
        const team = await teamView(query, by.account_id);
        // The team may have changed again at once.
        if (team.role !== 'member') throw new Problem('not_found');
        const isPaid = team.billing_status === 'active' || team.billing_status === 'grace';
        const warning = isPaid
          ? null
          : 'The new manager has no active billing period, so the team cannot make calls.';
        return { ...team, warning };
      },
    }),
    operation('DELETE /api/console/team/members/{account_id}', {
      operationId: 'removeTeamMember',
      summary: 'Remove a member',
      description: 'Manager only. The removed member’s next calls are billed to their own billing period.',
      caller: session,
      params: z.object({ account_id: idParameter }),
      answers: { 204: { description: 'The member was removed.' } },
      handle: async ({ transact }: Needs, { by, params }) => {
        await transact((inside) => removeMember(inside, by, params.account_id));
      },
    }),
    operation('PATCH /api/console/team/members/{account_id}', {
      operationId: 'changeTeamMember',
      summary: 'Change what a member may do',
      description: 'Manager only. Applications and tokens that the member has keep working.',
      caller: session,
      params: z.object({ account_id: idParameter }),
      body: memberRoleChangeSchema,
      example: { member_role: 'billing' },
      answers: { 200: TEAM },
      problems: ['not_found'],
      handle: async ({ query, transact }: Needs, { by, params, body }) => {
        await transact((inside) => changeMemberRole(inside, by, { ...params, ...body }));
        return teamView(query, by.account_id);
      },
    }),
    operation('POST /api/console/team/invitations', {
      operationId: 'invite',
      summary: 'Invite by email',
      description:
        'Manager only, within the team slots of the plan. The member has `member_role`, or `developer`, from the start. ' +
        'Invitations expire after 7 days.',
      caller: session,
      guard: unblocked,
      body: invitedSchema,
      example: { email: 'grace@example.com', member_role: 'developer' },
      answers: { 201: { description: 'The invitation. Its email is being sent.', schema: invitationSchema } },
      problems: [
        'account_blocked',
        'already_member',
        'invitation_pending',
        'not_found',
        'team_slots_limit_exceeded',
        'too_many_requests',
      ],
      handle: async (needs: Needs & RequestedMails, { by, body, req, res }) => {
        await countMailRequest(needs.counts, needs.mailLimits, {
          purpose: 'team_invitation',
          recipient: body.email,
          address: callerOf(req, res).addressGroup,
          accountId: by.account_id,
        });
        const invitation = await needs.transact((inside) => invite(inside, by, body));
        needs.wakeMails();
        return invitationAnswer(invitation);
      },
    }),
    operation('DELETE /api/console/team/invitations/{invitation_id}', {
      operationId: 'withdrawInvitation',
      summary: 'Withdraw an invitation',
      description: 'Manager only. Its link stops working. An expired invitation is removed from the list.',
      caller: session,
      params: ofInvitation,
      answers: { 204: { description: 'The invitation was withdrawn.' } },
      handle: async ({ transact }: Needs, { by, params }) => {
        await transact((inside) => withdraw(inside, by, params.invitation_id));
      },
    }),
  ],
} satisfies Chapter;

const ACCEPTING = ['already_in_team', 'not_found', 'team_slots_limit_exceeded'] as const;

export const ownerInvitations = {
  title: 'Invitations',
  description:
    'Invitations that the caller received. Returns `not_found` for an invitation that is unknown, used, ' +
    'withdrawn, expired or addressed to another account.',
  operations: [
    operation('GET /api/console/invitations', {
      operationId: 'listInvitations',
      summary: 'List received invitations, newest first',
      caller: session,
      answers: { 200: { description: 'The invitations.', schema: receivedInvitationsSchema } },
      handle: async ({ query }: Needs, { by }) => ({
        invitations: await invitationsTo(query, by.account_id),
      }),
    }),
    operation('POST /api/console/invitations/{invitation_id}/accept', {
      operationId: 'acceptInvitation',
      summary: 'Accept an invitation',
      description: 'Dissolves a team that the caller manages without other members.',
      caller: session,
      params: ofInvitation,
      answers: { 200: TEAM },
      problems: ACCEPTING,
      handle: async ({ query, transact }: Needs, { by, params: { invitation_id } }) => {
        const { account_id } = by;
        await transact((inside) => accept(inside, by, { invitation_id, account_id }));
        return teamView(query, account_id);
      },
    }),
    operation('POST /api/console/invitations/{invitation_id}/decline', {
      operationId: 'declineInvitation',
      summary: 'Decline an invitation',
      caller: session,
      params: ofInvitation,
      answers: { 204: { description: 'The invitation was declined.' } },
      handle: async ({ transact }: Needs, { by, params: { invitation_id } }) => {
        await transact((inside) => decline(inside, by, { invitation_id, account_id: by.account_id }));
      },
    }),
    operation('POST /api/console/invitations/look-up', {
      operationId: 'lookUpInvitation',
      summary: 'Get an invitation by its email token',
      caller: anyone,
      body: tokenSchema,
      example: MAILED,
      answers: { 200: { description: 'The invitation.', schema: receivedInvitationSchema } },
      problems: ['not_found'],
      handle: async ({ query }: Needs, { body: { token } }) => {
        const invitation = await invitationOfToken(query, token);
        if (invitation === undefined) throw new Problem('not_found');
        return invitation;
      },
    }),
    operation('POST /api/console/invitations/accept', {
      operationId: 'acceptInvitationByToken',
      summary: 'Accept an invitation by its email token',
      description: 'The token is enough: the caller may be signed in with another address.',
      caller: session,
      body: tokenSchema,
      example: MAILED,
      answers: { 200: TEAM },
      problems: ACCEPTING,
      handle: async ({ query, transact }: Needs, { by, body }) => {
        await transact((inside) => accept(inside, by, body));
        return teamView(query, by.account_id);
      },
    }),
    operation('POST /api/console/invitations/decline', {
      operationId: 'declineInvitationByToken',
      summary: 'Decline an invitation by its email token',
      caller: anyone,
      body: tokenSchema,
      example: MAILED,
      answers: { 204: { description: 'The invitation was declined.' } },
      problems: ['not_found'],
      handle: async ({ transact }: Needs, { body, req, res }) => {
        const { address, request_id } = callerOf(req, res);
        const by = { account_id: null, actor: { actor: 'unknown', address, request_id } };
        await transact((inside) => decline(inside, by, body));
      },
    }),
  ],
} satisfies Chapter;
