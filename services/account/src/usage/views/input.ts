import type { Request } from 'express';
import { z } from 'zod';
import { invalidInput } from '@tollgate/http/invalid-fields';
import { idQueryField } from '../../http/input/fields.ts';
import { fromField, toField } from '../../http/input/time-range.ts';
import { rangeFaults, usageRange } from './series/range.ts';
import type { UsageRange } from './series/range.ts';

const rangeFields = {
  interval: z.enum(['hour', 'day'], 'must be hour or day').default('day'),
  from: fromField('Start of the range. Default: 30 days or 24 hours before its end.'),
  to: toField('End of the range, exclusive; a date includes its whole day. Default: now.'),
  period_id: idQueryField.optional().meta({
    description:
      'Only usage charged to this billing period, and the range it covers. Cannot be combined with `from` and `to`.',
  }),
};

const GROUP_BY = ['none', 'application', 'member', 'api_version'] as const;

export type GroupBy = (typeof GROUP_BY)[number];

export const usageViewSchema = z.strictObject({
  ...rangeFields,
  group_by: z.enum(GROUP_BY, `must be ${GROUP_BY.join(', ')}`).default('none'),
  view: z.enum(['billed', 'own'], 'must be billed or own').optional(),
  application_id: idQueryField.optional(),
  account_id: idQueryField.optional(),
  api_version: z.enum(['v1', 'v2'], 'must be v1 or v2').optional(),
  format: z.enum(['json', 'csv'], 'must be json or csv').optional(),
});

export type UsageViewInput = Omit<z.output<typeof usageViewSchema>, 'interval' | 'from' | 'to'> & {
  /** With `period_id`, only its interval matters. */
  range: UsageRange;
};

const rangeSchema = z.object(rangeFields);

/** @throws {Problem} invalid_request that names every invalid parameter, including those of the range */
export function usageViewInput(req: Pick<Request, 'query'>, now: Date): UsageViewInput {
  const parsed = usageViewSchema.safeParse(req.query);
  const wantedRange = rangeSchema.safeParse(req.query);
  const faults = wantedRange.success ? wantedRangeFaults(wantedRange.data, now) : [];
  if (!parsed.success || faults.length > 0) {
    const issues = faults.map(({ field, message }) => ({
      code: 'custom' as const,
      path: [field],
      message,
      input: undefined,
    }));
    throw invalidInput({ issues: [...(parsed.error?.issues ?? []), ...issues] });
  }
  const { interval, from, to, ...rest } = parsed.data;
  return { ...rest, range: usageRange({ interval, from, to }, now) };
}

function wantedRangeFaults(wanted: z.output<typeof rangeSchema>, now: Date) {
  if (wanted.period_id === undefined) return rangeFaults(wanted, now);
  const message = 'cannot be combined with period_id';
  return (['from', 'to'] as const)
    .filter((field) => wanted[field] !== undefined)
    .map((field) => ({ field, message }));
}
