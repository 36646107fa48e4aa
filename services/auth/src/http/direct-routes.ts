import type { RequestListener } from 'node:http';
import { pathOf } from '@tollgate/http/request-head';

/**
 * Routes that are taken before Express is asked, as `POST /path`: the few whose every microsecond counts. To
 * walk through Express cost a third of an introspection (bench). Paths are exact; the query doesn't count. All
 * else, the same paths by other methods included, is the rest's.
 */
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
