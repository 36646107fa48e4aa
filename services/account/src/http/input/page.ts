import { z } from 'zod';
import { idParameter } from './id-parameter.ts';
import { describedAs } from './described-as.ts';

/** Lists are ordered by descending ids. */
export type Page = { limit: number; before: number };

const DEFAULT_PAGE = 50;
const MAX_PAGE = 200;

const WANTED_LIMIT = `must be 1 to ${String(MAX_PAGE)}`;

export const pageFields = {
  limit: describedAs(
    z
      .string(WANTED_LIMIT)
      .regex(/^[1-9]\d{0,2}$/, WANTED_LIMIT)
      .transform(Number)
      .refine((value) => value <= MAX_PAGE, WANTED_LIMIT)
      .default(DEFAULT_PAGE),
    { type: 'integer', minimum: 1, maximum: MAX_PAGE, default: DEFAULT_PAGE },
  ),
  cursor: describedAs(
    z
      .unknown()
      .refine((value) => idParameter.safeParse(value).success, 'must be the next_cursor of the page before')
      .pipe(idParameter)
      .optional(),
    { type: 'string', pattern: '^[1-9][0-9]{0,15}$', description: 'The `next_cursor` of the page before.' },
  ),
};

/** Reads one row more than the page, which tells whether there is a next page. */
export function lookAhead({ limit, cursor }: { limit: number; cursor?: number | undefined }): Page {
  return { limit: limit + 1, before: cursor ?? Number.MAX_SAFE_INTEGER };
}

export function cutPage<Row>(
  found: readonly Row[],
  { limit }: { limit: number },
  idOfRow: (row: Row) => number,
): { rows: Row[]; next_cursor: string | null } {
  const rows = found.slice(0, limit);
  const last = found.length > limit ? rows.at(-1) : undefined;
  return { rows, next_cursor: last === undefined ? null : String(idOfRow(last)) };
}
