import type { RequestHandler } from 'express';
import { Problem } from '@tollgate/http/problem';
import { idOf } from '../../http/input/id-parameter.ts';
import { bodyOf } from '../../http/input/json-body.ts';
import { addressSchema } from '../../identity/accounts/input.ts';
import { tokenSchema } from '../../identity/people/input.ts';
import { countMailRequest } from '../../identity/attempts/mail-limits.ts';
import type { PeopleParts } from '../../identity/people/people.ts';
import { callerOf } from '../../http/caller-address.ts';
import { signedIn } from '../../identity/sessions/require-session.ts';
import { personOf } from './endpoints.ts';
import type { TeamParts } from './endpoints.ts';
import { invitationOfToken, invitationsTo } from '../invitations/invitation-store.ts';
import { accept, decline, invite, withdraw } from '../invitations/invitations.ts';
import { invitationAnswer, teamView } from './team-view.ts';

/** One 404 for unknown, used, withdrawn, expired and other people's invitations, so that it tells nothing. */

export type InvitationParts = TeamParts & Pick<PeopleParts, 'counts' | 'mailLimits'>;

/**
 * `POST /api/console/team/invitations` with `{email}`, for the manager: 201, and a mail with a link. 409
 * `already_member`, `invitation_pending`, `team_slots_limit_exceeded`; 429 after too many mails.
 */
export function inviteEndpoint(parts: InvitationParts): RequestHandler {
  return async (req, res) => {
    const { email } = bodyOf(req, addressSchema);
    const { addressGroup: address } = callerOf(req, res);
    const { counts, mailLimits } = parts;
    await countMailRequest(counts, mailLimits, {
      purpose: 'team_invitation',
      recipient: email,
      address,
      accountId: signedIn(res).account_id,
    });
    const invitation = await parts.transact((inside) => invite(inside, personOf(res), email));
    parts.wakeMails();
    res.status(201).json(invitationAnswer(invitation));
  };
}

/** `DELETE /api/console/team/invitations/{invitation_id}`, for the manager: 204. */
export function withdrawEndpoint({ transact }: TeamParts): RequestHandler {
  return async (req, res) => {
    await transact((inside) => withdraw(inside, personOf(res), idOf(req, 'invitation_id')));
    res.status(204).end();
  };
}

/** `GET /api/console/invitations`: 200 `{invitations}` to the verified email address, newest first. */
export function invitationsEndpoint({ query }: TeamParts): RequestHandler {
  return async (_req, res) => {
    res.json({ invitations: await invitationsTo(query, signedIn(res).account_id) });
  };
}

/**
 * `POST /api/console/invitations/{invitation_id}/accept`, without a body: 200, the team. 409
 * `already_in_team`, or `team_slots_limit_exceeded` if the manager's plan has shrunk.
 */
export function acceptEndpoint({ query, transact }: TeamParts): RequestHandler {
  return async (req, res) => {
    const { account_id } = signedIn(res);
    const key = { invitation_id: idOf(req, 'invitation_id'), account_id };
    await transact((inside) => accept(inside, personOf(res), key));
    res.json(await teamView(query, account_id));
  };
}

/** `POST …/accept` with the mail's `{token}`: the same, whichever address the account has. */
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

/** `POST /api/console/invitations/decline` with `{token}`: 204. Needs no session. */
export function declineByTokenEndpoint({ transact }: TeamParts): RequestHandler {
  return async (req, res) => {
    const { address, request_id } = callerOf(req, res);
    const by = { account_id: null, actor: { actor: 'unknown', address, request_id } };
    const key = bodyOf(req, tokenSchema);
    await transact((inside) => decline(inside, by, key));
    res.status(204).end();
  };
}

/** `POST …/look-up` with `{token}`: 200, the invitation; without a session, for people with no account. */
export function lookUpInvitationEndpoint({ query }: TeamParts): RequestHandler {
  return async (req, res) => {
    const invitation = await invitationOfToken(query, bodyOf(req, tokenSchema).token);
    if (invitation === undefined) throw new Problem('not_found');
    res.json(invitation);
  };
}
