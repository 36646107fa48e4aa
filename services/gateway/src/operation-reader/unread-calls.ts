import { fieldValues } from '@tollgate/http/request-head';
import type { HttpRequest } from '@tollgate/plain-http/message';
import { isWhole } from '@tollgate/plain-http/message';
import { arrivedBody, declaredBytes, streamedBody } from './arriving-body.ts';
import { BODY_MIN_BYTES, NOTHING_HELD, createBodyRoom } from './read-call.ts';
import type { ReadCall, ReadDataCall, ReadDataCallOptions } from './read-call.ts';

/**
 * Passes calls on as they arrive, in any media type and coding, without knowing what they ask for: all are of an unknown
 * type (docs/design/admission.md). A body that doesn't arrive with its head is streamed.
 * @throws {Problem} payload_too_large; too_many_requests or service_unavailable if the payer's, or all bodies that are
 * under way are too much. What ends a body later is the upstream's call's to tell.
 */
export function createPassUnread(
  options: Pick<ReadDataCallOptions, 'body' | 'bodiesMaxBytes'>,
): ReadDataCall {
  const { body: limits } = options;
  const bodies = createBodyRoom(options);

  function streamed(req: Parameters<typeof streamedBody>[0], payerId: number): ReadCall {
    const lengthBytes = declaredBytes(req, limits) ?? null;
    const place = bodies.take(payerId, BODY_MIN_BYTES);
    const body = streamedBody(req, limits, { readAhead: BODY_MIN_BYTES, saw: () => undefined });
    const release = () => {
      body.destroy();
      place.release();
    };
    return { ...unread(req), body, lengthBytes, release };
  }

  return (req, { payerId }) => {
    if (req.method === 'GET') return unread(req);
    if (!isWhole(req)) return req.destroyed ? null : streamed(req, payerId);
    const body = arrivedBody(req, limits);
    return { ...unread(req), body, lengthBytes: body.length };
  };
}

function unread({ rawHeaders }: Pick<HttpRequest, 'rawHeaders'>): ReadCall {
  const codings = fieldValues(rawHeaders, 'content-encoding');
  return {
    operations: {
      type: 'unknown',
      count: 1,
      isBatch: false,
      operationName: null,
      counted: null,
      estimated: null,
    },
    requests: [],
    body: null,
    query: null,
    lengthBytes: null,
    contentCoding: codings.length === 0 ? null : codings.join(', '),
    isLong: false,
    priceElsewhere: null,
    release: NOTHING_HELD,
  };
}
