import type { Request, RequestHandler, Response } from 'express';
import { roleSuffices } from '@tollgate/contracts/operator-roles';
import type { OperatorRole } from '@tollgate/contracts/operator-roles';
import { Problem } from '@tollgate/http/problem';
import { requireServiceCredential, serviceCallerId } from '@tollgate/http/private-api-credential';
import type { ServiceCredential } from '@tollgate/http/private-api-credential';
import { REQUEST_ID_HEADER } from '@tollgate/log/request-id';
import type { Caller } from '@tollgate/operation';
import { headersOf } from '@tollgate/operation/header-fields';
import { REASON_HEADER, reasonHeaders } from '@tollgate/operation/reason';
import type { OperatedBy } from '@tollgate/operation/serve';
import type { Actor } from './audit-log.ts';

/** Callers of the private listener, by the credential that their request was accepted with. */

/** Behind requireServiceCredential. */
function actorOf(name: 'operator' | 'service', req: Request, res: Response): Actor {
  return {
    actor: `${name}:${serviceCallerId(res)}`,
    address: req.socket.remoteAddress ?? 'unknown',
    request_id: res.get(REQUEST_ID_HEADER) ?? 'unknown',
  };
}

/** An operator, by a credential or by a session (operators/require-operator-session.ts). */
export type Operator = { actor: Actor; role: OperatorRole };

export const operator: Caller<Operator> = { name: 'operator', of: (_req, res) => operatorOf(res) };

const operators = new WeakMap<Response, Operator>();

/** Called by what has authenticated the request. */
export function noteOperator(res: Response, found: Operator): void {
  operators.set(res, found);
}

/** Authenticates an operator. A credential that isn't in `roles` is an admin's. */
export function requireOperator(
  credentials: readonly ServiceCredential[],
  roles: ReadonlyMap<string, OperatorRole>,
): RequestHandler[] {
  return [
    requireServiceCredential(credentials),
    (req, res, next) => {
      const role = roles.get(serviceCallerId(res)) ?? 'admin';
      noteOperator(res, { actor: actorOf('operator', req, res), role });
      next();
    },
  ];
}

/**
 * Behind what authenticates operators. The reason that they give is part of the actor from here on.
 * @throws {Problem} (the returned handler) insufficient_role; invalid_request, of the reason
 */
export function admitOperator(operation: OperatedBy): RequestHandler {
  const { roles } = operation;
  const sufficient = roles.includes('admin') ? roles : [...roles, 'admin'];
  const headers = reasonHeaders(operation);
  return (req, res, next) => {
    const found = operatorOf(res);
    if (!roleSuffices(found.role, roles)) {
      throw new Problem('insufficient_role', {
        detail: `Your role is ${found.role}; needed is ${sufficient.join(' or ')}.`,
        extensions: { roles: sufficient },
      });
    }
    const reason = headers === undefined ? undefined : headersOf(req, headers)[REASON_HEADER];
    if (reason !== undefined) noteOperator(res, { ...found, actor: { ...found.actor, reason } });
    next();
  };
}

/** Whether the operator sees the IP addresses of callers and of people. */
export function seesAddresses({ role }: Pick<Operator, 'role'>): boolean {
  return roleSuffices(role, ['support']);
}

function operatorOf(res: Response): Operator {
  const found = operators.get(res);
  if (found === undefined) throw new Error('the endpoint is not behind what authenticates operators');
  return found;
}

/** auth or a gateway. */
export const service: Caller<{ actor: Actor }> = {
  name: 'service',
  of: (req, res) => ({ actor: actorOf('service', req, res) }),
};

/** Another system, which reports usage. */
export const reporter: Caller<{ reporter: string }> = {
  name: 'reporter',
  of: (_req, res) => ({ reporter: serviceCallerId(res) }),
};
