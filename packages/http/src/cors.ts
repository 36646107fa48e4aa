import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { HttpHandler } from '@tollgate/plain-http/message';
import { pathOf, singleValue } from './request-head.ts';

/** The methods, as `GET, POST`, that other origins may use by path. */
export type CorsPaths = Readonly<Record<string, string>>;

export type Cors = {
  allows: (origin: string) => boolean;
  /** Sets the fields that let a page read the response. Must be called before the response. */
  prepare: HttpHandler;
  /** Answers preflights, which have no token. Must be called after prepare. */
  withPreflight: (handler: RequestListener) => RequestListener;
  /** For another server's responses: its fields to drop, and those to add, as a flat list. */
  fields: { drops: readonly string[]; adds: readonly string[] };
};

const EXPOSED = [
  'Proxy-Status',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'WWW-Authenticate',
  'X-Billing-Status',
  'X-Points-Cost',
  'X-Points-Estimate',
  'X-Points-Remaining',
  'X-Request-Id',
  '*',
].join(', ');

/** Chromium's maximum. */
const MAX_AGE_SEC = 7_200;

const FIELD_NAMES = /^[\w!#$%&'*+.^`|~, -]{1,4096}$/;

const DROPS = [
  'access-control-allow-credentials',
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-allow-origin',
  'access-control-allow-private-network',
  'access-control-expose-headers',
  'access-control-max-age',
];

/**
 * CORS for callers with bearer tokens: any origin may be allowed, none with cookies (docs/design/listeners.md). Null
 * for no origin.
 */
export function createCors(origins: readonly string[], paths: CorsPaths): Cors | null {
  if (origins.length === 0) return null;
  const isOpen = origins.includes('*');
  const allowed = new Set(origins);
  const allows = (origin: string) => isOpen || allowed.has(origin);

  return {
    allows,
    prepare: (req, res) => {
      const origin = singleValue(req.rawHeaders, 'origin');
      if (origin === undefined || methodsOf(paths, req) === undefined) return;
      if (!isOpen) res.setHeader('vary', 'Origin');
      if (!allows(origin)) return;
      res.setHeader('access-control-allow-origin', isOpen ? '*' : origin);
      res.setHeader('access-control-expose-headers', EXPOSED);
    },
    withPreflight: (handler) => (req, res) => {
      const methods = req.method === 'OPTIONS' ? methodsOf(paths, req) : undefined;
      if (
        methods === undefined ||
        singleValue(req.rawHeaders, 'access-control-request-method') === undefined
      ) {
        handler(req, res);
        return;
      }
      // Other origins get a preflight response without a permission.
      if (res.hasHeader('access-control-allow-origin')) permit(req, res, methods);
      res.writeHead(204).end();
    },
    fields: { drops: DROPS, adds: isOpen ? [] : ['vary', 'Origin'] },
  };
}

export function underCors(
  cors: Cors | null,
  handler: RequestListener,
): { publicHandler: RequestListener; prepare?: HttpHandler } {
  if (cors === null) return { publicHandler: handler };
  return { publicHandler: cors.withPreflight(handler), prepare: cors.prepare };
}

function permit(req: IncomingMessage, res: ServerResponse, methods: string): void {
  const asked = singleValue(req.rawHeaders, 'access-control-request-headers');
  res.removeHeader('access-control-expose-headers');
  res.setHeader('access-control-allow-methods', methods);
  res.setHeader('access-control-max-age', MAX_AGE_SEC);
  // Not `*`, which leaves Authorization out.
  if (asked !== undefined && FIELD_NAMES.test(asked)) res.setHeader('access-control-allow-headers', asked);
  res.appendHeader('vary', 'Access-Control-Request-Headers');
}

function methodsOf(paths: CorsPaths, req: Pick<IncomingMessage, 'url'>): string | undefined {
  const path = pathOf(req);
  return Object.hasOwn(paths, path) ? paths[path] : undefined;
}
