import { z } from 'zod';
import { refusedCallSchema } from '@tollgate/contracts/refused-call';
import { Problem } from '@tollgate/http/problem';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { id, instant, ipAddress, nextCursor } from '../http/answer-fields.ts';
import { idQueryField } from '../http/input/fields.ts';
import { cutPage, lookAhead, pageFields } from '../http/input/page.ts';
import { fromField, toField } from '../http/input/time-range.ts';
import { ofAccount } from '../identity/accounts/operations.ts';
import { findOperatedAccount } from '../identity/accounts/operator-store.ts';
import { operator, seesAddresses } from '../platform/audit/private-callers.ts';
import type { Operator } from '../platform/audit/private-callers.ts';
import type { Query } from '../platform/database/query.ts';
import { findRefusals, listRefusals } from './store.ts';
import type { StoredRefusal } from './store.ts';

type Needs = { query: Query };

const { seq: _seq, at_ms: _atMs, ...stored } = refusedCallSchema.shape;

const recordSchema = z
  .object({
    refused_call_id: id,
    at: instant,
    ...stored,
    address: ipAddress,
    points: z.int().nullable(),
    operation_name: z.string().nullable(),
  })
  .meta({ id: 'RefusedCall' });

const shownTo = (by: Operator, records: readonly StoredRefusal[]) =>
  records.map((record) => ({ ...record, address: seesAddresses(by) ? record.address : null }));

const requestId = z.string().regex(/^[0-9a-f]{32}$/);

export const operatorRefusals = {
  title: 'Refused and failed calls',
  description: 'Refused and failed data calls, kept for REFUSED_CALLS_RETENTION_DAYS.',
  operations: [
    operation('GET /private/calls/{request_id}', {
      operationId: 'getRefusedCall',
      summary: 'Get the records of a request, oldest first',
      description:
        'Operations of a WebSocket share its request id. `not_found` without a record: the call succeeded, was not ' +
        'recorded (`unrecorded_before`), or is too old.',
      caller: operator,
      roles: ['viewer'],
      params: z.object({ request_id: requestId }),
      answers: {
        200: {
          description: 'The records.',
          schema: z.object({ request_id: z.string(), records: z.array(recordSchema) }),
        },
      },
      handle: async ({ query }: Needs, { by, params: { request_id } }) => {
        const records = await findRefusals(query, request_id);
        if (records.length === 0) throw new Problem('not_found');
        return { request_id, records: shownTo(by, records) };
      },
    }),
    operation('GET /private/accounts/{account_id}/refusals', {
      operationId: 'listRefusals',
      summary: 'List refused and failed calls of an account, newest first',
      description: 'Includes refused tokens that name one of its applications.',
      caller: operator,
      roles: ['viewer'],
      params: ofAccount,
      query: z.strictObject({
        ...pageFields,
        code: z
          .string()
          .regex(/^[a-z][a-z0-9_]{0,63}$/, 'must be a code')
          .optional(),
        application_id: idQueryField.optional(),
        from: fromField('Start of the range, inclusive.'),
        to: toField('End of the range, exclusive; a date includes its whole day.'),
      }),
      answers: {
        200: {
          description: 'One page.',
          schema: z.object({ refusals: z.array(recordSchema), next_cursor: nextCursor }),
        },
      },
      handle: async ({ query: read }: Needs, { by, params: { account_id }, query }) => {
        const { limit, cursor, ...filters } = query;
        if ((await findOperatedAccount(read, account_id)) === undefined) throw new Problem('not_found');
        const found = await listRefusals(read, account_id, filters, lookAhead({ limit, cursor }));
        const { rows, next_cursor } = cutPage(found, { limit }, ({ refused_call_id }) => refused_call_id);
        return { refusals: shownTo(by, rows), next_cursor };
      },
    }),
  ],
} satisfies Chapter;
