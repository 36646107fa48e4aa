import type { RequestListener } from 'node:http';
import { pathOf } from '@tollgate/http/request-head';

/** Hot `POST /path` routes that bypass Express, which took a third of an introspection's time (ADR 0010). */
export function directRoutes(
  routes: Readonly<Record<`POST /${string}`, RequestListener>>,
  rest: RequestListener,
): RequestListener {
  const byPath = new Map(
    Object.entries(routes).map(([route, listener]) => [route.slice('POST '.length), listener]),
  );
  return (req, res) => {
    const direct = req.method === 'POST' ? byPath.get(pathOf(req)) : undefined;
    (direct ?? rest)(req, res);
  };
}
