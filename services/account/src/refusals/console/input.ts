import type { Request } from 'express';
import { z } from 'zod';
import { queryOf } from '@tollgate/operation/query';
import { idQueryField } from '../../http/input/fields.ts';
import { pageFields } from '../../http/input/page.ts';
import { fromField, toField } from '../../http/input/time-range.ts';
import { assertRange, usageRange } from '../../usage/views/series/range.ts';
import type { UsageRange } from '../../usage/views/series/range.ts';

const whoseFields = {
  view: z.enum(['billed', 'own'], 'must be billed or own').optional(),
  account_id: idQueryField.optional(),
  application_id: idQueryField.optional(),
  code: z
    .string('must be a code')
    .regex(/^[a-z][a-z0-9_]{0,63}$/, 'must be a code')
    .optional(),
};

export const refusalsSchema = z.strictObject({
  ...pageFields,
  ...whoseFields,
  request_id: z
    .string('must be a request id')
    .regex(/^[0-9a-f]{32}$/, 'must be 32 characters 0-9 and a-f, as in X-Request-Id')
    .optional(),
  from: fromField('Start of the range, inclusive.'),
  to: toField('End of the range, exclusive; a date includes its whole day.'),
});

export const refusalCountsSchema = z.strictObject({
  ...whoseFields,
  interval: z.enum(['hour', 'day'], 'must be hour or day').default('hour'),
  from: fromField('Start of the range. Default: 24 hours or 30 days before its end.'),
  to: toField('End of the range, exclusive; a date includes its whole day. Default: now.'),
});

export type RefusalsInput = z.output<typeof refusalsSchema>;

export type CountsInput = Omit<z.output<typeof refusalCountsSchema>, 'interval' | 'from' | 'to'> & {
  range: UsageRange;
};

/** @throws {Problem} invalid_request that names every invalid parameter */
export function countsInput(req: Pick<Request, 'query'>, now: Date): CountsInput {
  const { interval, from, to, ...rest } = queryOf(req, refusalCountsSchema);
  const wanted = { interval, from, to };
  assertRange(wanted, now);
  return { ...rest, range: usageRange(wanted, now) };
}
