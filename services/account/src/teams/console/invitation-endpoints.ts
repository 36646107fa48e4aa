import type { RequestHandler } from 'express';
import { Problem } from '@tollgate/http/problem';
import { idOf } from '../../http/input/id-parameter.ts';
import { bodyOf } from '../../http/input/json-body.ts';
import { addressSchema } from '../../identity/accounts/input.ts';
import { tokenSchema } from '../../identity/people/input.ts';
import { countMailRequest } from '../../identity/attempts/mail-limits.ts';
import type { PeopleParts } from '../../identity/people/people.ts';
import { callerOf } from '../../identity/sessions/caller-address.ts';
import { signedIn } from '../../identity/sessions/require-session.ts';
import { personOf } from './endpoints.ts';
import type { TeamParts } from './endpoints.ts';
import { invitationOfToken, invitationsTo } from '../invitations/invitation-store.ts';
import { accept, decline, invite, withdraw } from '../invitations/invitations.ts';
import { invitationAnswer, teamView } from './team-view.ts';

/**
 * Invitations into teams. Who is invited sees `{invitation_id, email, team_name, invited_by_name, invited_by_email,
 * created_at, expires_at}`. 404 `not_found` for an invitation that is unknown, used, withdrawn, expired or somebody
 * else's: the same answer. They expire after 7 days.
 */

export type InvitationParts = TeamParts & Pick<PeopleParts, 'counts' | 'mailLimits'>;

/**
 * `POST /api/console/team/invitations` with `{email}`, for the manager: 201 `{invitation_id, email, created_at,
 * expires_at}`, and a mail with a link. 409 `already_member`, `invitation_pending`, or `team_slots_limit_exceeded`
 * where members and pending invitations are as many as the manager's plan has room for; 429 `too_many_requests`
 * where too many mails were asked for.
 */
export function inviteEndpoint(parts: InvitationParts): RequestHandler {
  return async (req, res) => {
    const { email } = bodyOf(req, addressSchema);
    const { addressGroup: address } = callerOf(req, res);
    const { counts, mailLimits } = parts;
    await countMailRequest(counts, mailLimits, { purpose: 'team_invitation', recipient: email, address });
    const invitation = await parts.transact((inside) => invite(inside, personOf(res), email));
    parts.wakeMails();
    res.status(201).json(invitationAnswer(invitation));
  };
}

/** `DELETE /api/console/team/invitations/{invitation_id}`, for the manager: 204; its link is dead. */
export function withdrawEndpoint({ transact }: TeamParts): RequestHandler {
  return async (req, res) => {
    await transact((inside) => withdraw(inside, personOf(res), idOf(req, 'invitation_id')));
    res.status(204).end();
  };
}

/** `GET /api/console/invitations`: 200 `{invitations}` to one's verified e-mail address, newest first. */
export function invitationsEndpoint({ query }: TeamParts): RequestHandler {
  return async (_req, res) => {
    res.json({ invitations: await invitationsTo(query, signedIn(res).account_id) });
  };
}

/**
 * `POST /api/console/invitations/{invitation_id}/accept`, without a body: 200, the team. 409 `already_in_team` for
 * who is a member of one, or manages one with others in it; one that one manages alone ends. 409
 * `team_slots_limit_exceeded` where the manager's plan has less room than it had.
 */
export function acceptEndpoint({ query, transact }: TeamParts): RequestHandler {
  return async (req, res) => {
    const { account_id } = signedIn(res);
    const key = { invitation_id: idOf(req, 'invitation_id'), account_id };
    await transact((inside) => accept(inside, personOf(res), key));
    res.json(await teamView(query, account_id));
  };
}

/**
 * `POST /api/console/invitations/accept` with `{token}`, of the mail's link: the same for who is signed in with another
 * address; whoever reads the mailbox may.
 */
export function acceptByTokenEndpoint({ query, transact }: TeamParts): RequestHandler {
  return async (req, res) => {
    const key = bodyOf(req, tokenSchema);
    await transact((inside) => accept(inside, personOf(res), key));
    res.json(await teamView(query, signedIn(res).account_id));
  };
}

/** `POST /api/console/invitations/{invitation_id}/decline`, without a body: 204. */
export function declineEndpoint({ transact }: TeamParts): RequestHandler {
  return async (req, res) => {
    const key = { invitation_id: idOf(req, 'invitation_id'), account_id: signedIn(res).account_id };
    await transact((inside) => decline(inside, personOf(res), key));
    res.status(204).end();
  };
}

/** `POST /api/console/invitations/decline` with `{token}`: 204; without a session, the token is enough. */
export function declineByTokenEndpoint({ transact }: TeamParts): RequestHandler {
  return async (req, res) => {
    const { address, request_id } = callerOf(req, res);
    const by = { account_id: null, actor: { actor: 'unknown', address, request_id } };
    const key = bodyOf(req, tokenSchema);
    await transact((inside) => decline(inside, by, key));
    res.status(204).end();
  };
}

/**
 * `POST /api/console/invitations/look-up` with `{token}`: 200, the invitation, without a session: who has no account
 * signs up with its address, and finds it among their invitations.
 */
export function lookUpInvitationEndpoint({ query }: TeamParts): RequestHandler {
  return async (req, res) => {
    const invitation = await invitationOfToken(query, bodyOf(req, tokenSchema).token);
    if (invitation === undefined) throw new Problem('not_found');
    res.json(invitation);
  };
}
