import type { Request, Response } from 'express';
import { serviceCallerId } from '@tollgate/http/private-api-credential';
import { REQUEST_ID_HEADER } from '@tollgate/log/request-id';
import type { Caller } from '../../http/operation.ts';
import type { Actor } from './audit-log.ts';

/** The operator whose credential the request was accepted with. Behind requireServiceCredential. */
function operatorOf(req: Request, res: Response): Actor {
  return {
    actor: `operator:${serviceCallerId(res)}`,
    address: req.socket.remoteAddress ?? 'unknown',
    request_id: res.get(REQUEST_ID_HEADER) ?? 'unknown',
  };
}

/** The caller of the operators' operations. */
export const operator: Caller<{ actor: Actor }> = {
  name: 'operator',
  of: (req, res) => ({ actor: operatorOf(req, res) }),
};
