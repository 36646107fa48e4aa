import { z } from 'zod';
import { describedAs } from './described-as.ts';

const DAY_MS = 86_400_000;

const WANTED_INSTANT = 'must be an RFC 3339 time or date, as 2026-07-01T00:00:00Z or 2026-07-01';

const isDate = (value: string) => z.iso.date().safeParse(value).success;

const instantText = z
  .string(WANTED_INSTANT)
  .refine(
    (value) => isDate(value) || z.iso.datetime({ offset: true }).safeParse(value).success,
    WANTED_INSTANT,
  );

const INSTANT = {
  anyOf: [
    { type: 'string', format: 'date-time' },
    { type: 'string', format: 'date' },
  ],
  examples: ['2026-07-01', '2026-07-01T00:00:00Z'],
} satisfies Parameters<typeof describedAs>[1];

/** Inclusive: a time with any offset, or a date, which means the start of that day in UTC. */
export function fromField(description: string) {
  return describedAs(instantText.transform((value) => new Date(value)).optional(), {
    ...INSTANT,
    description,
  });
}

/** Exclusive; a date includes its whole day. */
export function toField(description: string) {
  return describedAs(
    instantText.transform((value) => new Date(Date.parse(value) + (isDate(value) ? DAY_MS : 0))).optional(),
    { ...INSTANT, description },
  );
}
