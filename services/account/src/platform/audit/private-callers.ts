import type { Request, RequestHandler, Response } from 'express';
import { roleSuffices } from '@tollgate/contracts/operator-roles';
import type { OperatorRole } from '@tollgate/contracts/operator-roles';
import { Problem } from '@tollgate/http/problem';
import { requireServiceCredential, serviceCallerId } from '@tollgate/http/private-api-credential';
import type { ServiceCredential } from '@tollgate/http/private-api-credential';
import { REQUEST_ID_HEADER } from '@tollgate/log/request-id';
import type { Caller } from '@tollgate/operation';
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

export const operator: Caller<{ actor: Actor; role: OperatorRole }> = {
  name: 'operator',
  of: (req, res) => ({ actor: actorOf('operator', req, res), role: roleOf(res) }),
};

const ROLE = 'operatorRole';

/** Authenticates an operator. A credential that isn't in `roles` is an admin's. */
export function requireOperator(
  credentials: readonly ServiceCredential[],
  roles: ReadonlyMap<string, OperatorRole>,
): RequestHandler[] {
  return [
    requireServiceCredential(credentials),
    (_req, res, next) => {
      res.locals[ROLE] = roles.get(serviceCallerId(res)) ?? 'admin';
      next();
    },
  ];
}

/** Behind requireOperator. @throws {Problem} (the returned handler) insufficient_role */
export function requireRole(roles: readonly OperatorRole[]): RequestHandler {
  const sufficient = roles.includes('admin') ? roles : [...roles, 'admin'];
  return (_req, res, next) => {
    const role = roleOf(res);
    if (roleSuffices(role, roles)) next();
    else {
      throw new Problem('insufficient_role', {
        detail: `The credential's role is ${role}; needed is ${sufficient.join(' or ')}.`,
        extensions: { roles: sufficient },
      });
    }
  };
}

function roleOf(res: Response): OperatorRole {
  const role = res.locals[ROLE] as OperatorRole | undefined;
  if (role === undefined) throw new Error('roleOf without requireOperator');
  return role;
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
