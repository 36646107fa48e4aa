import { z } from 'zod';
import { route, read } from '../http/route.ts';
import type { Call, Route } from '../http/route.ts';
import { missing } from '../http/failure.ts';
import type { Kind } from '../store.ts';
import { whole } from './input.ts';

const pageSchema = z.looseObject({
  limit: whole.pipe(z.int().min(1).max(100)).optional(),
  starting_after: z.string().optional(),
  ending_before: z.string().optional(),
  created: z.union([whole, z.record(z.enum(['gt', 'gte', 'lt', 'lte']), whole)]).optional(),
});

/** Every other parameter compares with the member of its name; `lookup_keys[]` with one of several. */
export function listRoute(path: string, kind: Kind): Route {
  return route(`GET ${path}` as `GET /${string}`, ({ double, input }) => {
    const { limit = 10, starting_after, ending_before, created, ...rest } = read(pageSchema, input);
    const { expand: _expand, lookup_keys, ...filters } = rest as Record<string, unknown>;
    const found = double.store.all(kind).filter((object) => {
      const members = object as unknown as Record<string, unknown>;
      return (
        Object.entries(filters).every(([name, value]) => String(members[name]) === String(value)) &&
        (lookup_keys === undefined || (lookup_keys as unknown[]).includes(members['lookup_key'])) &&
        isWithin(Number(members['created'] ?? members['date']), created)
      );
    });
    const place = (id: string) => {
      const index = found.findIndex((object) => object.id === id);
      if (index === -1) throw missing(kind, id, 'starting_after');
      return index;
    };
    const from = starting_after === undefined ? 0 : place(starting_after) + 1;
    const to = ending_before === undefined ? found.length : place(ending_before);
    const data = found.slice(from, Math.min(to, from + limit));
    return { object: 'list', data, has_more: from + limit < to, url: path };
  });
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
