import type { Request, Response } from 'express';
import { z } from 'zod';
import { OPERATOR_ROLES } from '@tollgate/contracts/operator-roles';
import type { OperatorRole } from '@tollgate/contracts/operator-roles';
import { id, instant } from '../http/answer-fields.ts';
import { callerOf } from '../http/caller-address.ts';
import { newSecretToken } from '../identity/secret-token.ts';
import { csrfTokenOf } from '../identity/sessions/csrf-token.ts';
import { enqueueMail } from '../mail/mail-outbox.ts';
import { recordAudit } from '../platform/audit/audit-log.ts';
import type { Query } from '../platform/database/query.ts';
import type { OperatorMail } from './operator-mails.ts';
import { actorOf } from './require-operator-session.ts';
import type { OperatorSessionNeeds } from './require-operator-session.ts';
import { beginOperatorSession, endSessionBefore } from './session-store.ts';
import type { OperatorSession, ProviderSession } from './session-store.ts';
import { adminAddresses } from './store.ts';
import type { OperatorPerson } from './store.ts';

export const operatorSessionSchema = z
  .object({
    session_id: id,
    operator_id: id,
    name: z.string(),
    email: z.string().nullable(),
    role: z.enum(OPERATOR_ROLES),
    issuer: z
      .string()
      .nullable()
      .meta({ description: 'The identity provider that has given the role; null with a passkey.' }),
    created_at: instant,
    expires_at: instant,
    csrf_token: z.string().meta({ description: 'For `X-CSRF-Token`, on every request other than GET.' }),
  })
  .meta({ id: 'OperatorSession' });

/** How someone signed in, in the audit log. */
export type SignedInBy =
  { method: 'passkey' | 'enrolment' | 'link' } | ({ method: 'oidc' } & ProviderSession);

export type Begun = { token: string; session: OperatorSession };

/** The last step of every sign-in of an operator. `inside` is a transaction's, which has locked the operator. */
export async function beginSession(
  { operatorCookie, operatorLifetimes, operatorSite }: OperatorSessionNeeds,
  inside: Query,
  { person, role, by }: { person: OperatorPerson; role: OperatorRole; by: SignedInBy },
  { req, res }: { req: Request; res: Response },
): Promise<Begun> {
  const { address, request_id } = callerOf(req, res);
  // Never the browser's previous token: an attacker may have set it (session fixation).
  await endSessionBefore(inside, operatorCookie.read(req));
  const token = newSecretToken();
  const { operator_id, name, email } = person;
  const origin = { address, userAgent: req.get('user-agent') ?? '' };
  const provider = by.method === 'oidc' ? by : null;
  const issuer = provider?.issuer ?? null;
  const lifetimes = provider === null ? operatorLifetimes : operatorLifetimes.byProvider;
  const begun = await beginOperatorSession(inside, { operator_id, role, token, provider }, origin, lifetimes);
  const entry = {
    ...actorOf({ operator_id, name, issuer }, { address, request_id }),
    application_id: null,
    account_id: null,
    details: { method: by.method, role },
  };
  await recordAudit(inside, { ...entry, action: 'operator_signed_in' });
  // Where an identity provider decides who operators are, a passkey goes past it.
  if (provider === null && operatorSite.issuer !== undefined) {
    await recordAudit(inside, { ...entry, action: 'operator_break_glass' });
    for (const recipient of await adminAddresses(inside)) {
      const mail: OperatorMail = { kind: 'operator_break_glass', recipient };
      await enqueueMail(inside, mail);
    }
  }
  return { token, session: { ...begun, operator_id, name, email, role, issuer } };
}

/** Sets the cookie. @returns the answer */
export function answerWithSession(res: Response, { operatorCookie }: OperatorSessionNeeds, begun: Begun) {
  operatorCookie.set(res, begun.token, begun.session.expires_at);
  return operatorSessionAnswer(begun);
}

export function operatorSessionAnswer({ token, session }: Begun): z.output<typeof operatorSessionSchema> {
  const { session_id, operator_id, name, email, role, issuer, created_at, expires_at } = session;
  const shown = { session_id, operator_id, name, email, role, issuer, created_at, expires_at };
  return { ...shown, csrf_token: csrfTokenOf(token) };
}
