import type { RequestHandler } from 'express';
import { Counter } from 'prom-client';
import type { Registry } from 'prom-client';
import { z } from 'zod';
import { lostRevocationSchema } from '@tollgate/contracts/client-change';
import type { Logger } from '@tollgate/log';
import { REQUEST_ID_HEADER } from '@tollgate/log/request-id';
import { serviceCallerId } from '@tollgate/http/private-api-credential';
import { Problem } from '@tollgate/http/problem';
import type { Applications } from '../applications/applications.ts';
import { bodyOf } from '../../http/input/json-body.ts';

const paramsSchema = z.object({ client_id: z.uuid() });

/**
 * `POST /private/clients/{client_id}/lost-revocation` with LostRevocation, for a Postgres restored from a
 * backup: 204 once the application has that epoch or a higher one; 404 `not_found`; 503 if Postgres is
 * unavailable.
 */
export function lostRevocationEndpoint(options: {
  applications: Pick<Applications, 'takeOverRevocation'>;
  logger: Pick<Logger, 'error'>;
  recovered: Pick<Counter, 'inc'>;
}): RequestHandler {
  const { applications, logger, recovered } = options;
  return async (req, res) => {
    const params = paramsSchema.safeParse(req.params);
    if (!params.success) throw new Problem('not_found');
    const known = { ...params.data, ...bodyOf(req, lostRevocationSchema) };
    const application = await applications.takeOverRevocation(known, {
      actor: `service:${serviceCallerId(res)}`,
      address: req.socket.remoteAddress ?? 'unknown',
      request_id: res.get(REQUEST_ID_HEADER) ?? 'unknown',
    });
    if (application !== null) {
      recovered.inc();
      const { application_id, account_id, client_id, revocation_epoch } = application;
      logger.error(
        { application_id, account_id, client_id, revocation_epoch },
        'Postgres had lost a revocation; the application is revoked again and needs a new secret',
      );
    }
    res.status(204).end();
  };
}

export function createRecoveredRevocations(registry: Registry): Counter {
  return new Counter({
    name: 'tollgate_revocations_recovered_total',
    help: 'Applications revoked again because Postgres, restored from a backup, had lost their revocation',
    registers: [registry],
  });
}
