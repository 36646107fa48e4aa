import type { RequestListener } from 'node:http';
import { pathOf } from '@tollgate/http/request-head';
import type { FastPath } from '@tollgate/server/listener';
import type { DirectRoute } from './direct.ts';
import { isPlainForm } from './form-reader.ts';

/** How a listener's requests are handled, and which of them need no node:http (docs/design/listeners.md). */
export type Handlers = { handler: RequestListener; fastPath: FastPath };

/** Lets the `POST` of hot routes bypass Express, which answers all else. */
export function directRoutes(
  routes: readonly DirectRoute[],
  rest: RequestListener,
  maxBodyBytes: number,
): Handlers {
  const byPath = new Map(routes.map(({ path, handler }) => [path, handler]));
  const directOf = ({ method, url }: { method?: string | undefined; url?: string | undefined }) =>
    method === 'POST' ? byPath.get(pathOf({ url })) : undefined;
  return {
    handler: (req, res) => {
      (directOf(req) ?? rest)(req, res);
    },
    fastPath: {
      handlerOf: (head) => (isPlainForm(head, maxBodyBytes) ? (directOf(head) ?? null) : null),
    },
  };
}
