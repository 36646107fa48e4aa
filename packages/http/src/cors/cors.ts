import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { pathOf, singleValue } from '../request/head.ts';

/** Which methods a page of another origin may call a path by, as `GET, POST`. */
export type CorsPaths = Readonly<Record<string, string>>;

export type Cors = {
  /** Whether pages of an origin may use what is here. */
  allows: (origin: string) => boolean;
  /** Sets the fields that let a page read the answer. To be called before anything answers. */
  prepare: (req: IncomingMessage, res: ServerResponse) => void;
  /** Answers preflights, which have no token, before the handler. To be called after prepare. */
  withPreflight: (handler: RequestListener) => RequestListener;
  /** For answers that another server makes: the fields of its own to drop, and those to add, as a flat list. */
  fields: { drops: readonly string[]; adds: readonly string[] };
};

/** The gateway's own fields, and `*` for whatever an upstream adds. */
const EXPOSED = [
  'Proxy-Status',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'WWW-Authenticate',
  'X-Billing-Status',
  'X-Points-Cost',
  'X-Points-Remaining',
  'X-Request-Id',
  '*',
].join(', ');

/** Two hours: what Chromium keeps a preflight for at most. */
const MAX_AGE_SEC = 7_200;

/** What a preflight may ask for: names of header fields. */
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
 * Cross-origin resource sharing for callers that have bearer tokens and no cookies, so that every origin may be let
 * in and none ever with credentials (ADR 0040). Null where no origin is allowed: then nothing is done at all.
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
      // To a page that isn't let in, a preflight without a permission is the refusal.
      if (res.hasHeader('access-control-allow-origin')) permit(req, res, methods);
      res.writeHead(204).end();
    },
    fields: { drops: DROPS, adds: isOpen ? [] : ['vary', 'Origin'] },
  };
}

/** What a public listener needs of it: its handler, with what comes before it. */
export function underCors(
  cors: Cors | null,
  handler: RequestListener,
): { publicHandler: RequestListener; prepare?: Cors['prepare'] } {
  if (cors === null) return { publicHandler: handler };
  return { publicHandler: cors.withPreflight(handler), prepare: cors.prepare };
}

function permit(req: IncomingMessage, res: ServerResponse, methods: string): void {
  const asked = singleValue(req.rawHeaders, 'access-control-request-headers');
  res.removeHeader('access-control-expose-headers');
  res.setHeader('access-control-allow-methods', methods);
  res.setHeader('access-control-max-age', MAX_AGE_SEC);
  // Any field is allowed, as from any other client; `*` would leave Authorization out.
  if (asked !== undefined && FIELD_NAMES.test(asked)) res.setHeader('access-control-allow-headers', asked);
  res.appendHeader('vary', 'Access-Control-Request-Headers');
}

function methodsOf(paths: CorsPaths, req: IncomingMessage): string | undefined {
  const path = pathOf(req);
  return Object.hasOwn(paths, path) ? paths[path] : undefined;
}
