import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { Problem } from '@tollgate/problem';
import { askForBody } from '../headers/expect-continue.ts';
import { fieldValues } from '../headers/request-head.ts';

/** Bodies up to this size are read whole and sent in one write: far cheaper than a stream. */
const BUFFERED_BODY_MAX_BYTES = 16_384;

/** A body as the HTTP client takes it; `lengthBytes` is known where the caller declared it. */
export type RequestBody = { body: Buffer | Readable | null; lengthBytes: number | null };

/** Of a request's body. */
export type BodyLimits = {
  maxBytes: number;
  /** A caller that is silent for this long within a streamed body is cut off: it holds a connection. */
  idleTimeoutMs: number;
};

/**
 * A request's body for the next server: small ones buffered, others streamed with back-pressure. A promise only
 * where a small one has not yet come whole; it resolves with null where the caller goes away before that.
 * @throws {Problem} payload_too_large where the declared length is over the limit. A chunked body that turns
 * out to be larger ends its stream with the same problem.
 */
export function requestBody(
  req: IncomingMessage,
  limits: BodyLimits,
): RequestBody | null | Promise<RequestBody | null> {
  const declared = fieldValues(req.rawHeaders, 'content-length')[0];
  if (declared === undefined) {
    const chunked = fieldValues(req.rawHeaders, 'transfer-encoding').length > 0;
    return { body: chunked ? streamed(req, limits) : null, lengthBytes: null };
  }
  const lengthBytes = Number(declared);
  if (lengthBytes > limits.maxBytes) throw new Problem('payload_too_large');
  if (lengthBytes === 0) return { body: null, lengthBytes: null };
  if (lengthBytes > BUFFERED_BODY_MAX_BYTES) return { body: streamed(req, limits), lengthBytes };
  // Its events are over: waiting for them would last for ever.
  if (req.destroyed) return null;
  askForBody(req);
  // Nearly always: it came while the call waited for its admission.
  return req.complete ? { body: req.read() as Buffer | null, lengthBytes } : buffered(req, lengthBytes);
}

function buffered(req: IncomingMessage, lengthBytes: number): Promise<RequestBody | null> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
    });
    req.once('end', () => {
      resolve({ body: Buffer.concat(chunks), lengthBytes });
    });
    req.once('close', () => {
      resolve(null);
    });
  });
}

function streamed(req: IncomingMessage, limits: BodyLimits): Readable {
  return Readable.from(bounded(req, limits), { objectMode: false });
}

async function* bounded(req: IncomingMessage, limits: BodyLimits): AsyncGenerator<Buffer> {
  let bytes = 0;
  askForBody(req);
  req.socket.setTimeout(limits.idleTimeoutMs);
  try {
    // The request must outlive the stream: destroying it would take the connection, and the answer with it.
    for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > limits.maxBytes) throw new Problem('payload_too_large');
      yield chunk;
    }
  } catch (error) {
    // The caller's doing, whatever it was: never to be taken for a failure of the upstream.
    throw error instanceof Problem ? error : new Problem('invalid_request', { cause: error });
  } finally {
    req.socket.setTimeout(0);
  }
}

const DISCARD_MAX_BYTES = 8_388_608;
const DISCARD_TIMEOUT_MS = 5_000;

/**
 * Reads and drops what is left of a body whose request has its answer. Left unread, it would be in the way of
 * the connection's next request. Closing the connection with bytes unread would
 * reset it, and the caller could lose the answer that explains why (RFC 9112, section 9.6); reading for ever
 * would let anyone occupy it. So: within limits, then the connection is cut.
 */
export function discardRest(req: IncomingMessage): void {
  if (req.readableEnded || req.destroyed) return;
  if (req.complete) {
    req.resume();
    return;
  }
  let left = DISCARD_MAX_BYTES;
  const { socket } = req;
  const overdue = setTimeout(() => {
    socket.destroy();
  }, DISCARD_TIMEOUT_MS);
  overdue.unref();
  const done = () => {
    clearTimeout(overdue);
  };
  req.once('end', done).once('close', done);
  req.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) socket.destroy();
  });
}
