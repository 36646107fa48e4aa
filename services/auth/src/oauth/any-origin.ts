import type { RequestHandler } from 'express';
import type { Form } from '@tollgate/http/form';
import type { HttpRequest, HttpResponse } from '@tollgate/plain-http/message';
import { fieldIndex, singleValue } from '@tollgate/http/request-head';

/** Chromium's maximum. */
const PREFLIGHT_MAX_AGE_SEC = 7_200;

/** What a page has to see of an answer beside its body. */
const EXPOSED = 'Retry-After, WWW-Authenticate, X-Request-Id';

/** A public client has no secret that a page could lose, and no cookie is read here (docs/design/authorization.md). */
export const ANY_ORIGIN = { 'access-control-allow-origin': '*', 'access-control-expose-headers': EXPOSED };

/**
 * Lets pages of any origin read the answer, errors included, unless the request has a client secret: that belongs on a
 * server, and a page that sent one isn't told that it works.
 */
export function allowAnyOrigin({ rawHeaders }: HttpRequest, res: HttpResponse, form: Form): void {
  if (fieldIndex(rawHeaders, 'origin') === -1) return;
  if (fieldIndex(rawHeaders, 'authorization') !== -1 || form.has('client_secret')) return;
  for (const [name, value] of Object.entries(ANY_ORIGIN)) res.setHeader(name, value);
}

/** Answers preflights. `*` of the header fields leaves Authorization out (Fetch, section 4.8). */
export const answerPreflight: RequestHandler = (req, res, next) => {
  if (
    req.method !== 'OPTIONS' ||
    singleValue(req.rawHeaders, 'access-control-request-method') === undefined
  ) {
    next();
    return;
  }
  res.set({
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'GET, POST',
    'access-control-allow-headers': '*',
    'access-control-max-age': String(PREFLIGHT_MAX_AGE_SEC),
  });
  res.status(204).end();
};
