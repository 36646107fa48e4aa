import type { Request, Response } from 'express';
import { serviceCallerId } from '@tollgate/http/private-api-credential';
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

export const operator: Caller<{ actor: Actor }> = {
  name: 'operator',
  of: (req, res) => ({ actor: actorOf('operator', req, res) }),
};

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
