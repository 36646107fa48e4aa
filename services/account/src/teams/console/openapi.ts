import { z } from 'zod';
import type { Answer, ApiChapter } from '../../http/operation.ts';
import { idParameter } from '../../http/input/id-parameter.ts';
import { addressSchema } from '../../identity/accounts/input.ts';
import { tokenSchema } from '../../identity/people/input.ts';
import {
  handedOverSchema,
  invitationSchema,
  receivedInvitationSchema,
  receivedInvitationsSchema,
  teamAnswerSchema,
} from './answers.ts';
import { handOverSchema, teamSchema } from './input.ts';

const TEAM: Answer = { description: 'The team, as the caller sees it.', schema: teamAnswerSchema };

const ofInvitation = z.object({ invitation_id: idParameter });

const MAILED = { token: 'b3J2aWxsZS13cmlnaHQtYW5kLXdpbGJ1ci13cmlnaHQ' };

export const teamApi: ApiChapter = {
  title: 'Team',
  description: "The caller's team. Members' calls are billed to the manager's billing period.",
  operations: {
    'GET /api/console/team': {
      operationId: 'getTeam',
      summary: 'Get the team',
      description: 'Only the manager sees usage and invitations. Returns `not_found` without a team.',
      caller: 'session',
      answers: { 200: TEAM },
      problems: ['not_found'],
    },
    'POST /api/console/team': {
      operationId: 'createTeam',
      summary: 'Create a team',
      description: 'The caller becomes its manager.',
      caller: 'session',
      body: teamSchema,
      example: { name: 'Data desk' },
      answers: { 201: TEAM },
      problems: ['already_in_team', 'not_found'],
    },
    'PATCH /api/console/team': {
      operationId: 'renameTeam',
      summary: 'Rename the team',
      description: 'Manager only.',
      caller: 'session',
      body: teamSchema,
      example: { name: 'Data desk' },
      answers: { 200: TEAM },
      problems: ['not_found'],
    },
    'DELETE /api/console/team': {
      operationId: 'dissolveTeam',
      summary: 'Dissolve the team',
      description: 'Manager only. Ends all memberships and invitations.',
      caller: 'session',
      answers: { 204: { description: 'The team was dissolved.' } },
      problems: ['not_found'],
    },
    'POST /api/console/team/leave': {
      operationId: 'leaveTeam',
      summary: 'Leave the team',
      description:
        'A manager without other members dissolves the team by leaving. Other managers must hand it over first.',
      caller: 'session',
      answers: { 204: { description: 'The caller left the team.' } },
      problems: ['not_found', 'team_has_members'],
    },
    'POST /api/console/team/hand-over': {
      operationId: 'handOverTeam',
      summary: 'Make a member the manager and payer',
      description: 'Manager only. The caller becomes a member.',
      caller: 'session',
      body: handOverSchema,
      example: { account_id: 42 },
      answers: { 200: { description: 'The team, as a member sees it.', schema: handedOverSchema } },
      problems: ['not_found'],
    },
    'DELETE /api/console/team/members/{account_id}': {
      operationId: 'removeTeamMember',
      summary: 'Remove a member',
      description: 'Manager only. The removed member’s next calls are billed to their own billing period.',
      caller: 'session',
      params: z.object({ account_id: idParameter }),
      answers: { 204: { description: 'The member was removed.' } },
    },
    'POST /api/console/team/invitations': {
      operationId: 'invite',
      summary: 'Invite by email',
      description: 'Manager only, within the team slots of the plan. Invitations expire after 7 days.',
      caller: 'session',
      body: addressSchema,
      example: { email: 'grace@example.com' },
      answers: { 201: { description: 'The invitation. Its email is being sent.', schema: invitationSchema } },
      problems: [
        'account_blocked',
        'already_member',
        'invitation_pending',
        'not_found',
        'team_slots_limit_exceeded',
        'too_many_requests',
      ],
    },
    'DELETE /api/console/team/invitations/{invitation_id}': {
      operationId: 'withdrawInvitation',
      summary: 'Withdraw an invitation',
      description: 'Manager only. Its link stops working. An expired invitation is removed from the list.',
      caller: 'session',
      params: ofInvitation,
      answers: { 204: { description: 'The invitation was withdrawn.' } },
    },
  },
};

const ACCEPTING = ['already_in_team', 'not_found', 'team_slots_limit_exceeded'] as const;

export const invitationApi: ApiChapter = {
  title: 'Invitations',
  description:
    'Invitations that the caller received. Returns `not_found` for an invitation that is unknown, used, ' +
    'withdrawn, expired or addressed to another account.',
  operations: {
    'GET /api/console/invitations': {
      operationId: 'listInvitations',
      summary: 'List received invitations, newest first',
      caller: 'session',
      answers: { 200: { description: 'The invitations.', schema: receivedInvitationsSchema } },
    },
    'POST /api/console/invitations/{invitation_id}/accept': {
      operationId: 'acceptInvitation',
      summary: 'Accept an invitation',
      description: 'Dissolves a team that the caller manages without other members.',
      caller: 'session',
      params: ofInvitation,
      answers: { 200: TEAM },
      problems: ACCEPTING,
    },
    'POST /api/console/invitations/{invitation_id}/decline': {
      operationId: 'declineInvitation',
      summary: 'Decline an invitation',
      caller: 'session',
      params: ofInvitation,
      answers: { 204: { description: 'The invitation was declined.' } },
    },
    'POST /api/console/invitations/look-up': {
      operationId: 'lookUpInvitation',
      summary: 'Get an invitation by its email token',
      caller: 'anyone',
      body: tokenSchema,
      example: MAILED,
      answers: { 200: { description: 'The invitation.', schema: receivedInvitationSchema } },
      problems: ['not_found'],
    },
    'POST /api/console/invitations/accept': {
      operationId: 'acceptInvitationByToken',
      summary: 'Accept an invitation by its email token',
      description: 'The token is enough: the caller may be signed in with another address.',
      caller: 'session',
      body: tokenSchema,
      example: MAILED,
      answers: { 200: TEAM },
      problems: ACCEPTING,
    },
    'POST /api/console/invitations/decline': {
      operationId: 'declineInvitationByToken',
      summary: 'Decline an invitation by its email token',
      caller: 'anyone',
      body: tokenSchema,
      example: MAILED,
      answers: { 204: { description: 'The invitation was declined.' } },
      problems: ['not_found'],
    },
  },
};
