import { STATUS_CODES } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { REQUEST_ID_HEADER, newRequestId } from '@tollgate/log/request-id';
import { Problem, problemDocument } from '@tollgate/http/problem';
import type { Connections } from './connections.ts';
import { hostFault, toOriginForm } from './request-target.ts';

export type HeadLimits = {
  /** The request target. */
  maxUrlBytes: number;
  /** The whole head, request line included. */
  maxHeaderBytes: number;
  maxHeaderCount: number;
};

/**
 * What is wrong with a request before any route sees it, or null. The problems: uri_too_long (414),
 * header_fields_too_large (431; RFC 6585, section 5), invalid_request for HTTP/0.9, for a Host or a target that
 * names no one host (request-target.ts). A target in absolute form is in origin form afterwards.
 */
export function headProblem(req: IncomingMessage, limits: HeadLimits): Problem | null {
  if ((req.url?.length ?? 0) > limits.maxUrlBytes) return new Problem('uri_too_long');
  if (req.rawHeaders.length > 2 * limits.maxHeaderCount) return new Problem('header_fields_too_large');
  if (req.httpVersionMajor < 1)
    return new Problem('invalid_request', { detail: 'HTTP/0.9 is not supported.' });
  const detail = hostFault(req) ?? (req.url?.startsWith('/') === true ? null : toOriginForm(req));
  return detail === null ? null : new Problem('invalid_request', { detail });
}

/**
 * The answer to a request that no route sees, and that may not even have a path: one document that is problem
 * details (RFC 9457), by its member `errors` a GraphQL response, and by `error` and `error_description` an
 * answer of an OAuth endpoint (RFC 6749, section 5.2; all that is refused here is `invalid_request` there).
 */
function refusal(problem: Problem): { requestId: string; headers: [string, string][]; body: string } {
  const requestId = newRequestId();
  const { code, detail, title } = problem;
  const message = detail ?? title;
  const body = JSON.stringify({
    ...problemDocument(problem, requestId),
    errors: [{ message, extensions: { code, request_id: requestId } }],
    error: 'invalid_request',
    error_description: message,
  });
  return {
    requestId,
    headers: [
      ...Object.entries(problem.headers),
      ['content-type', 'application/problem+json'],
      ['content-length', String(Buffer.byteLength(body))],
      ['cache-control', 'no-store'],
      [REQUEST_ID_HEADER, requestId],
      ['connection', 'close'],
    ],
    body,
  };
}

/**
 * Answers a request whose head is refused; its body is not read, so the connection ends with it. Gives the request
 * id of the answer.
 */
export function refuseHead(req: IncomingMessage, res: ServerResponse, problem: Problem): string {
  const { requestId, headers, body } = refusal(problem);
  res.writeHead(problem.status, headers.flat());
  res.end(req.method === 'HEAD' ? undefined : body);
  return requestId;
}

/** Answers on a connection where there is no request to answer, and ends it. */
function refuseConnection(socket: Socket, problem: Problem): void {
  const { headers, body } = refusal(problem);
  const { status } = problem;
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(
    `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}\r\ndate: ${new Date().toUTCString()}\r\n${lines.join('')}\r\n${body}`,
  );
  socket.destroySoon();
}

/**
 * What the HTTP parser refuses (two lengths, a length beside chunks, folded or bare lines, too large a head),
 * and requests that don't come to their end in time. Each is answered, and its connection ended: what follows on
 * it can't be told apart from the rest of what was refused. An answer under way is never written into.
 */
export function onClientError({ lastAnswer }: Pick<Connections, 'lastAnswer'>) {
  return (error: NodeJS.ErrnoException, socket: Socket): void => {
    if (!socket.writable || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    const res = lastAnswer(socket);
    if (res === null || (res.writableFinished && res.req.complete)) {
      refuseConnection(socket, parserProblem(error));
    } else if (res.writableEnded && !res.req.complete) {
      // Answered before its body had come: a second answer would be taken for the next request's.
      socket.destroySoon();
    } else if (res.req.complete) {
      // What is wrong came behind a request that is being answered.
      res.shouldKeepAlive = false;
      res.once('finish', () => {
        socket.destroySoon();
      });
    } else if (res.headersSent) {
      // A reset: an orderly close could complete the answer (RFC 9112, section 8).
      socket.resetAndDestroy();
    } else {
      refuseConnection(socket, parserProblem(error));
    }
  };
}

/** CONNECT is for forward proxies (RFC 9110, section 9.3.6). */
export function onConnect(_req: IncomingMessage, socket: Socket): void {
  refuseConnection(socket, new Problem('method_not_allowed', { headers: { allow: 'GET, POST' } }));
}

function parserProblem(cause: NodeJS.ErrnoException): Problem {
  switch (cause.code) {
    case 'HPE_HEADER_OVERFLOW':
      return new Problem('header_fields_too_large', { cause });
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new Problem('payload_too_large', { cause });
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Problem('request_timeout', { cause });
    default:
      return new Problem('invalid_request', { cause });
  }
}
