import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { isWhole } from '@tollgate/http/message';
import type { HttpRequest, HttpResponse, WholeRequest } from '@tollgate/http/message';
import { Problem } from '@tollgate/http/problem';
import { cutAnswer } from '@tollgate/http/cut-answer';
import { askForBody } from '../../http/expect-continue.ts';
import { fieldValues } from '@tollgate/http/request-head';

/** Bodies up to this size are sent in one write, which is far cheaper than a stream. */
const BUFFERED_BODY_MAX_BYTES = 16_384;

/** A body for undici; `lengthBytes` is null unless the caller declared it. */
export type RequestBody = { body: Buffer | Readable | null; lengthBytes: number | null };

export type BodyLimits = {
  maxBytes: number;
  /** For silence of the caller, which holds a slot and perhaps an upstream connection. */
  idleTimeoutMs: number;
  /** From the start of reading to the end. */
  totalTimeoutMs: number;
};

/**
 * A request's body for the upstream: small ones buffered, others streamed with back-pressure. A promise only while
 * a small one is incomplete; null if the caller has gone.
 * @throws {Problem} payload_too_large, request_timeout; also in the promise, and as the stream's error.
 */
export function requestBody(
  req: HttpRequest,
  limits: BodyLimits,
): RequestBody | null | Promise<RequestBody | null> {
  if (isWhole(req)) return wholeBody(req, limits);
  const declared = fieldValues(req.rawHeaders, 'content-length')[0];
  if (declared === undefined) {
    const chunked = fieldValues(req.rawHeaders, 'transfer-encoding').length > 0;
    return { body: chunked ? streamed(req, limits) : null, lengthBytes: null };
  }
  const lengthBytes = Number(declared);
  if (lengthBytes > limits.maxBytes) throw new Problem('payload_too_large');
  if (lengthBytes === 0) return { body: null, lengthBytes: null };
  if (lengthBytes > BUFFERED_BODY_MAX_BYTES) return { body: streamed(req, limits), lengthBytes };
  // No event would follow.
  if (req.destroyed) return null;
  askForBody(req);
  // Nearly always: it arrived during admission.
  return req.complete
    ? { body: req.read() as Buffer | null, lengthBytes }
    : buffered(req, lengthBytes, limits);
}

function wholeBody(
  { wholeBody: body }: WholeRequest,
  { maxBytes }: Pick<BodyLimits, 'maxBytes'>,
): RequestBody {
  if (body !== null && body.length > maxBytes) throw new Problem('payload_too_large');
  return { body, lengthBytes: body?.length ?? null };
}

function buffered(
  req: IncomingMessage,
  lengthBytes: number,
  limits: BodyLimits,
): Promise<RequestBody | null> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const clock = startClock(req, limits, reject);
    req.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      clock.progressed();
    });
    req.once('end', () => {
      clock.stop();
      resolve({ body: Buffer.concat(chunks), lengthBytes });
    });
    req.once('close', () => {
      clock.stop();
      resolve(null);
    });
  });
}

function streamed(req: IncomingMessage, limits: BodyLimits): Readable {
  let bytes = 0;
  let clock: BodyClock | undefined;
  const body = new Readable({
    read: () => {
      clock ??= begin();
      req.resume();
    },
    destroy: (error, callback) => {
      clock?.stop();
      // Destroying the request itself would end the connection, and the response with it.
      req.off('data', onData).off('end', onEnd).off('close', onBrokenOff);
      if (!req.readableEnded) req.pause();
      callback(error);
    },
  });
  const end = (problem: Problem) => body.destroy(problem);
  const onData = (chunk: Buffer) => {
    bytes += chunk.length;
    clock?.progressed();
    if (bytes > limits.maxBytes) end(new Problem('payload_too_large'));
    else if (!body.push(chunk)) req.pause();
  };
  const onEnd = () => {
    req.off('close', onBrokenOff);
    body.push(null);
  };
  // A Problem, so that it isn't taken for a failure of the upstream.
  const onBrokenOff = () =>
    end(new Problem('invalid_request', { cause: new Error('the caller broke off its body') }));
  const begin = () => {
    askForBody(req);
    req.on('data', onData).once('end', onEnd).once('close', onBrokenOff);
    return startClock(req, limits, end);
  };
  return body;
}

type BodyClock = { progressed: () => void; stop: () => void };

/** The time limits of a body, which don't count while the upstream is slow to read. */
function startClock(
  req: IncomingMessage,
  { idleTimeoutMs, totalTimeoutMs }: BodyLimits,
  onOverdue: (problem: Problem) => void,
): BodyClock {
  const stop = () => {
    clearTimeout(idle);
    clearTimeout(total);
  };
  const giveUp = () => {
    stop();
    onOverdue(
      new Problem('request_timeout', {
        detail: 'The body of the request did not arrive in time.',
        headers: { connection: 'close' },
      }),
    );
  };
  const idle = setTimeout(() => {
    if (req.isPaused()) idle.refresh();
    else giveUp();
  }, idleTimeoutMs);
  const total = setTimeout(() => {
    if (!req.complete) giveUp();
  }, totalTimeoutMs);
  return { progressed: () => idle.refresh(), stop };
}

const DISCARD_MAX_BYTES = 8_388_608;
const DISCARD_TIMEOUT_MS = 5_000;

/**
 * Discards the rest of a body after the response, within limits, and then cuts the connection off. A close with
 * bytes unread resets the connection, and the caller could lose the response (RFC 9112, section 9.6).
 */
export function discardRest(req: HttpRequest, res: HttpResponse): void {
  if (isWhole(req)) return;
  if (req.readableEnded || req.destroyed) return;
  req.resume();
  if (req.complete) return;
  let left = DISCARD_MAX_BYTES;
  const { socket } = req;
  const cut = () => {
    if (res.writableFinished) socket.destroy();
    else cutAnswer(res);
  };
  const overdue = setTimeout(cut, DISCARD_TIMEOUT_MS);
  overdue.unref();
  const done = () => {
    clearTimeout(overdue);
  };
  req.once('end', done).once('close', done);
  req.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) cut();
  });
}
