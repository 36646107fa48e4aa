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

const TEAM: Answer = { description: 'The team, as one sees it.', schema: teamAnswerSchema };

const ofInvitation = z.object({ invitation_id: idParameter });

const MAILED = { token: 'b3J2aWxsZS13cmlnaHQtYW5kLXdpbGJ1ci13cmlnaHQ' };

export const teamApi: ApiChapter = {
  title: 'Team',
  description: "The team one is in. Members' calls are billed to the manager's billing period.",
  operations: {
    'GET /api/console/team': {
      operationId: 'getTeam',
      summary: "One's team",
      description: 'Usage and invitations are the manager’s to see. `not_found` for who is in no team.',
      caller: 'session',
      answers: { 200: TEAM },
      problems: ['not_found'],
    },
    'POST /api/console/team': {
      operationId: 'createTeam',
      summary: 'Makes a team',
      description: 'One manages it.',
      caller: 'session',
      body: teamSchema,
      example: { name: 'Data desk' },
      answers: { 201: TEAM },
      problems: ['already_in_team', 'not_found'],
    },
    'PATCH /api/console/team': {
      operationId: 'renameTeam',
      summary: 'Renames the team',
      description: 'For the manager.',
      caller: 'session',
      body: teamSchema,
      example: { name: 'Data desk' },
      answers: { 200: TEAM },
      problems: ['not_found'],
    },
    'DELETE /api/console/team': {
      operationId: 'dissolveTeam',
      summary: 'Dissolves the team',
      description: 'For the manager. All memberships and invitations end.',
      caller: 'session',
      answers: { 204: { description: 'It is no more.' } },
      problems: ['not_found'],
    },
    'POST /api/console/team/leave': {
      operationId: 'leaveTeam',
      summary: 'Leaves the team',
      description: 'A manager who is alone ends the team; one of others hands it over first.',
      caller: 'session',
      answers: { 204: { description: 'One is in no team any more.' } },
      problems: ['not_found', 'team_has_members'],
    },
    'POST /api/console/team/hand-over': {
      operationId: 'handOverTeam',
      summary: 'Makes a member the manager and payer',
      description: 'For the manager, who becomes a member.',
      caller: 'session',
      body: handOverSchema,
      example: { account_id: 42 },
      answers: { 200: { description: 'The team, as a member sees it.', schema: handedOverSchema } },
      problems: ['not_found'],
    },
    'DELETE /api/console/team/members/{account_id}': {
      operationId: 'removeTeamMember',
      summary: 'Removes a member',
      description: 'For the manager. The next call is billed to the own period of who was removed.',
      caller: 'session',
      params: z.object({ account_id: idParameter }),
      answers: { 204: { description: 'The member is gone.' } },
    },
    'POST /api/console/team/invitations': {
      operationId: 'invite',
      summary: 'Invites by e-mail',
      description: 'For the manager, within the slots of the plan. Invitations expire after 7 days.',
      caller: 'session',
      body: addressSchema,
      example: { email: 'grace@example.com' },
      answers: { 201: { description: 'The invitation; its mail is on its way.', schema: invitationSchema } },
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
      summary: 'Withdraws an invitation',
      description: 'For the manager. Its link is dead.',
      caller: 'session',
      params: ofInvitation,
      answers: { 204: { description: 'It is withdrawn.' } },
    },
  },
};

const ACCEPTING = ['already_in_team', 'not_found', 'team_slots_limit_exceeded'] as const;

export const invitationApi: ApiChapter = {
  title: 'Invitations',
  description:
    'Invitations into teams, for who is invited. One that is unknown, used, withdrawn, expired or somebody ' +
    'else’s is `not_found`.',
  operations: {
    'GET /api/console/invitations': {
      operationId: 'listInvitations',
      summary: "Invitations to one's verified e-mail address, newest first",
      caller: 'session',
      answers: { 200: { description: 'The invitations.', schema: receivedInvitationsSchema } },
    },
    'POST /api/console/invitations/{invitation_id}/accept': {
      operationId: 'acceptInvitation',
      summary: 'Accepts an invitation',
      description: 'A team that one manages alone ends.',
      caller: 'session',
      params: ofInvitation,
      answers: { 200: TEAM },
      problems: ACCEPTING,
    },
    'POST /api/console/invitations/{invitation_id}/decline': {
      operationId: 'declineInvitation',
      summary: 'Declines an invitation',
      caller: 'session',
      params: ofInvitation,
      answers: { 204: { description: 'It is declined.' } },
    },
    'POST /api/console/invitations/look-up': {
      operationId: 'lookUpInvitation',
      summary: 'Reads an invitation by the token of its mail',
      caller: 'anyone',
      body: tokenSchema,
      example: MAILED,
      answers: { 200: { description: 'The invitation.', schema: receivedInvitationSchema } },
      problems: ['not_found'],
    },
    'POST /api/console/invitations/accept': {
      operationId: 'acceptInvitationByToken',
      summary: 'Accepts an invitation by the token of its mail',
      description: 'Whoever reads the mailbox may, with whatever address they have signed in.',
      caller: 'session',
      body: tokenSchema,
      example: MAILED,
      answers: { 200: TEAM },
      problems: ACCEPTING,
    },
    'POST /api/console/invitations/decline': {
      operationId: 'declineInvitationByToken',
      summary: 'Declines an invitation by the token of its mail',
      caller: 'anyone',
      body: tokenSchema,
      example: MAILED,
      answers: { 204: { description: 'It is declined.' } },
      problems: ['not_found'],
    },
  },
};
