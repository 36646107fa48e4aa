import { z } from 'zod';
import { route, read } from '../http/route.ts';
import type { Call, Route } from '../http/route.ts';
import { missing } from '../http/failure.ts';
import type { Kind } from '../store.ts';
import { whole } from './input.ts';

const pageSchema = z.looseObject({
  limit: whole.pipe(z.int().min(1).max(100)).optional(),
  starting_after: z.string().optional(),
  created: z.union([whole, z.partialRecord(z.enum(['gt', 'gte', 'lt', 'lte']), whole)]).optional(),
});

/** What is on test clocks is listed only if it is asked for. */
const LEFT_OUT = new Set<Kind>(['customer', 'subscription']);

/** Every other parameter compares with the member of its name; `lookup_keys[]` with one of several. */
export function listRoute(path: string, kind: Kind): Route {
  return route(`GET ${path}` as `GET /${string}`, ({ double, input }) => {
    const { limit, starting_after, created, lookup_keys, ...filters } = read(pageSchema, input);
    const asksForClocks = 'test_clock' in filters || (kind === 'subscription' && 'customer' in filters);
    const found = double.store.all(kind).filter((object) => {
      const members = object as unknown as Record<string, unknown>;
      const isLeftOut = LEFT_OUT.has(kind) && members['test_clock'] !== null && !asksForClocks;
      return (
        !isLeftOut &&
        Object.entries(filters).every(([name, value]) => String(members[name]) === String(value)) &&
        (lookup_keys === undefined || (lookup_keys as unknown[]).includes(members['lookup_key'])) &&
        isWithin(Number(members['created'] ?? members['date']), created)
      );
    });
    return pageOf(found, { limit, starting_after }, { kind, url: path });
  });
}

/** An invoice itself states the first ones only. */
export const LINES = route('GET /v1/invoices/{id}/lines', ({ double, id, input }) => {
  const { lines } = double.store.get('invoice', id);
  return pageOf(lines.data, read(pageSchema, input), { kind: 'line_item', url: lines.url });
});

function pageOf(
  found: readonly { id: string }[],
  { limit = 10, starting_after }: Pick<z.output<typeof pageSchema>, 'limit' | 'starting_after'>,
  { kind, url }: { kind: string; url: string },
) {
  const last = starting_after === undefined ? -1 : found.findIndex(({ id }) => id === starting_after);
  if (starting_after !== undefined && last === -1) throw missing(kind, starting_after, 'starting_after');
  const rest = found.slice(last + 1);
  return { object: 'list', data: rest.slice(0, limit), has_more: rest.length > limit, url };
}

export function getRoute(path: string, kind: Kind): Route {
  return route(`GET ${path}/{id}` as `GET /${string}`, ({ double, id }: Call) => double.store.get(kind, id));
}

function isWithin(seconds: number, range: number | Partial<Record<string, number>> | undefined): boolean {
  if (range === undefined) return true;
  if (typeof range === 'number') return seconds === range;
  const { gt = -Infinity, gte = -Infinity, lt = Infinity, lte = Infinity } = range;
  return seconds > gt && seconds >= gte && seconds < lt && seconds <= lte;
}
