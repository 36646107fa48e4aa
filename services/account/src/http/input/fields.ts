import { z } from 'zod';
import { describedAs } from './described-as.ts';

export const idField = z.int('must be a whole number').min(1, 'must be at least 1');

/** Postgres' type integer. */
const MAX_INTEGER = 2_147_483_647;

export const countField = z
  .int('must be a whole number')
  .min(0, 'must be at least 0')
  .max(MAX_INTEGER, `must be at most ${String(MAX_INTEGER)}`);

/** In a request's body; `cursor` of pageFields is the same in its query. */
export const cursorField = z
  .string('must be the next_cursor of the previous response')
  .regex(/^[1-9]\d{0,14}$/, 'must be the next_cursor of the previous response')
  .transform(Number)
  .optional();

export const teamSlotsField = countField.nullable();

export const secondField = describedAs(
  z
    .string('must be text')
    .refine(
      (value) => z.iso.datetime({ precision: 0 }).safeParse(value).success,
      'must be a UTC time to the second, as 2026-07-01T00:00:00Z',
    )
    .transform((value) => new Date(value)),
  { type: 'string', format: 'date-time', examples: ['2026-07-01T00:00:00Z'] },
);

export const booleanQueryField = z
  .enum(['true', 'false'], 'must be true or false')
  .transform((value) => value === 'true');

export const countQueryField = describedAs(
  z
    .string('must be a whole number')
    .regex(/^\d{1,9}$/, 'must be a whole number')
    .transform(Number),
  { type: 'integer', minimum: 0, maximum: 999_999_999 },
);

export const idQueryField = describedAs(
  z
    .string('must be an id')
    .regex(/^[1-9]\d{0,14}$/, 'must be an id')
    .transform(Number),
  { type: 'integer', minimum: 1, maximum: 999_999_999_999_999 },
);
