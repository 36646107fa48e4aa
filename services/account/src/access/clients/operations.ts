import { Counter } from 'prom-client';
import type { Registry } from 'prom-client';
import { z } from 'zod';
import { lostRevocationSchema } from '@tollgate/contracts/client-change';
import { clientAnswerSchema } from '@tollgate/contracts/client-record';
import { Problem } from '@tollgate/http/problem';
import type { Logger } from '@tollgate/log';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { service } from '../../platform/audit/private-callers.ts';
import type { Query } from '../../platform/database/query.ts';
import type { Applications } from '../applications/applications.ts';
import { findClient } from './client-record.ts';

type RecoveryNeeds = {
  applications: Pick<Applications, 'takeOverRevocation'>;
  logger: Pick<Logger, 'error'>;
  recoveredRevocations: Pick<Counter, 'inc'>;
};

const ofClient = z.object({ client_id: z.uuid() });

export const serviceClients = {
  title: 'Clients',
  description: 'For auth: what decides about the tokens of an application.',
  operations: [
    operation('GET /private/clients/{client_id}', {
      operationId: 'getClient',
      summary: 'Get a client record with its live manual tokens',
      description: 'Read in one snapshot, so manual tokens that are not listed are dead.',
      caller: service,
      params: ofClient,
      answers: { 200: { description: 'The client.', schema: clientAnswerSchema } },
      handle: async ({ query }: { query: Query }, { params: { client_id } }) => {
        const client = await findClient(query, client_id, new Date());
        if (client === undefined) throw new Problem('not_found');
        return client;
      },
    }),
    operation('POST /private/clients/{client_id}/lost-revocation', {
      operationId: 'recoverRevocation',
      summary: 'Revoke an application again whose revocation Postgres has lost',
      description:
        'auth calls this when it knows a later epoch than Postgres, which was restored from a backup then. Idempotent; ' +
        'the epoch is never lowered.',
      caller: service,
      params: ofClient,
      body: lostRevocationSchema,
      example: { revocation_epoch: 4 },
      answers: { 204: { description: 'The application has that epoch or a higher one.' } },
      handle: async ({ applications, logger, recoveredRevocations }: RecoveryNeeds, { by, params, body }) => {
        const application = await applications.takeOverRevocation({ ...params, ...body }, by.actor);
        if (application === null) return;
        recoveredRevocations.inc();
        const { application_id, account_id, client_id, revocation_epoch } = application;
        logger.error(
          { application_id, account_id, client_id, revocation_epoch },
          'Postgres had lost a revocation; the application is revoked again and needs a new secret',
        );
      },
    }),
  ],
} satisfies Chapter;

export function createRecoveredRevocations(registry: Registry): Counter {
  return new Counter({
    name: 'tollgate_revocations_recovered_total',
    help: 'Applications revoked again because Postgres, restored from a backup, had lost their revocation',
    registers: [registry],
  });
}
