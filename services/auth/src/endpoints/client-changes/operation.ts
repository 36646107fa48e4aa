import { clientChangeSchema } from '@tollgate/contracts/client-change';
import { operation } from '@tollgate/operation';
import type { ClientDirectory } from '../../client/directory.ts';
import { service } from '../../http/callers.ts';

const MAX_CHANGE_BYTES = 1_024;

export const reportClientChange = operation('POST /private/client-changes', {
  operationId: 'reportClientChange',
  summary: "Report a client's change",
  description:
    'From account. With the response, tokens of smaller revocation epochs are dead, and the cached client record is ' +
    'gone. Idempotent; the epoch is never lowered.',
  caller: service,
  body: clientChangeSchema,
  maxBodyBytes: MAX_CHANGE_BYTES,
  example: {
    change: 'application',
    client_id: '0b7c1f9e-5a49-4b0e-9a53-6f1c2d3e4f50',
    revocation_epoch: 3,
    source: 'account',
  },
  answers: { 204: { description: 'The change is in force.' } },
  handle: ({ clients }: { clients: Pick<ClientDirectory, 'change'> }, { body }) => clients.change(body),
});
