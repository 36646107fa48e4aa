import type { RequestListener } from 'node:http';
import type { HttpHandler } from '@tollgate/plain-http/message';
import { pathOf } from '@tollgate/http/request-head';
import type { FastPath } from '@tollgate/server/listener';
import { isPlainForm } from './form-reader.ts';

type Routes = Readonly<Record<`POST /${string}`, HttpHandler>>;

/** How a listener's requests are handled, and which of them need no node:http (docs/design/listeners.md). */
export type Handlers = { handler: RequestListener; fastPath: FastPath };

/**
 * Hot `POST /path` routes for forms that bypass Express, which took a third of an introspection's time
 * (docs/design/tokens.md).
 */
export function directRoutes(routes: Routes, rest: RequestListener, maxBodyBytes: number): Handlers {
  const byPath = new Map<string, HttpHandler>(
    Object.entries(routes).map(([route, handler]) => [route.slice('POST '.length), handler]),
  );
  const directOf = ({ method, url }: { method?: string | undefined; url?: string | undefined }) =>
    method === 'POST' ? byPath.get(pathOf({ url })) : undefined;
  return {
    handler: (req, res) => {
      (directOf(req) ?? rest)(req, res);
    },
    fastPath: {
      accepts: (head) => directOf(head) !== undefined && isPlainForm(head, maxBodyBytes),
      handler: (req, res) => directOf(req)?.(req, res),
    },
  };
}
