import { STATUS_CODES } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { REQUEST_ID_HEADER, newRequestId } from '@tollgate/log/request-id';
import { Problem, problemDocument } from '@tollgate/http/problem';
import type { HeadLimits } from '@tollgate/plain-http/server';
import type { Connections } from './connections.ts';
import { hostFault, toOriginForm } from './request-target.ts';

/** A request line whose version is above 1.1. */
const NEW_VERSION = /^[^\r\n]* HTTP\/(?:1\.[2-9]|[2-9]\.\d)\r\n/;

export function hasBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/**
 * Whether the bytes behind a request can't be told to be the next one: it asks for another protocol, or it has chunks
 * in HTTP/1.0, which a proxy may have read in another way (RFC 9112, section 6.1).
 */
export function isLastOfConnection({
  headers,
  httpVersion,
}: Pick<IncomingMessage, 'headers' | 'httpVersion'>): boolean {
  if (headers.upgrade !== undefined) return true;
  return httpVersion === '1.0' && headers['transfer-encoding'] !== undefined;
}

/**
 * The problem of a request's head, or null: uri_too_long, header_fields_too_large (RFC 6585, section 5),
 * http_version_not_supported, or invalid_request for HTTP/0.9, Host or the target. Turns a target in absolute form into
 * origin form.
 */
export function headProblem(req: IncomingMessage, limits: HeadLimits): Problem | null {
  if ((req.url?.length ?? 0) > limits.maxUrlBytes) return new Problem('uri_too_long');
  if (req.rawHeaders.length > 2 * limits.maxHeaderCount) return new Problem('header_fields_too_large');
  if (req.httpVersionMajor > 1) return new Problem('http_version_not_supported');
  if (req.httpVersionMajor < 1)
    return new Problem('invalid_request', { detail: 'HTTP/0.9 is not supported.' });
  const detail = hostFault(req) ?? (req.url?.startsWith('/') === true ? null : toOriginForm(req));
  return detail === null ? null : new Problem('invalid_request', { detail });
}

/**
 * Fields that a proxy adds for whom it speaks, and Via (RFC 9110, section 7.6.3). Not X-Forwarded-Proto and
 * X-Forwarded-Client-Cert: service meshes set these on what pods send to each other.
 */
const ADDED_BY_PROXIES = /^(?:forwarded|via|x-real-ip|x-forwarded-(?!(?:proto|client-cert)$).*)$/i;

/**
 * A listener of services, probes and Prometheus is reached from elsewhere only by mistake (docs/design/listeners.md).
 */
export function proxyProblem({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): Problem | null {
  const field = rawHeaders.find((name, index) => index % 2 === 0 && ADDED_BY_PROXIES.test(name));
  if (field === undefined) return null;
  const detail = `This listener is private: it refuses requests that came through a proxy (${field}).`;
  return new Problem('forbidden', { detail });
}

/** Problem details (RFC 9457), a GraphQL response and an OAuth error (RFC 6749, section 5.2) in one document. */
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

/** Refuses a request without reading its body, and ends the connection. Returns the request id. */
export function refuseHead(req: IncomingMessage, res: ServerResponse, problem: Problem): string {
  const { requestId, headers, body } = refusal(problem);
  res.writeHead(problem.status, headers.flat());
  res.end(req.method === 'HEAD' ? undefined : body);
  return requestId;
}

function refuseConnection(socket: Socket, problem: Problem): void {
  const { headers, body } = refusal(problem);
  const { status } = problem;
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(
    `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}\r\ndate: ${new Date().toUTCString()}\r\n${lines.join('')}\r\n${body}`,
  );
  socket.destroySoon();
}

/** Refuses what the parser rejects, or what is too slow, and ends the connection, never within a response. */
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
      // A second response would be taken for the next request's.
      socket.destroySoon();
    } else if (res.req.complete) {
      // The fault came after a request that is being handled.
      res.shouldKeepAlive = false;
      res.once('finish', () => {
        socket.destroySoon();
      });
    } else if (res.headersSent) {
      // An orderly close could complete the response (RFC 9112, section 8).
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

/** The parser has one code for a version that it doesn't know and for a malformed one. */
function isOfNewVersion({ rawPacket }: { rawPacket?: Buffer }): boolean {
  return rawPacket !== undefined && NEW_VERSION.test(rawPacket.toString('latin1'));
}

function parserProblem(cause: NodeJS.ErrnoException & { rawPacket?: Buffer }): Problem {
  switch (cause.code) {
    case 'HPE_HEADER_OVERFLOW':
      return new Problem('header_fields_too_large', { cause });
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new Problem('payload_too_large', { cause });
    case 'HPE_PAUSED_H2_UPGRADE':
      return new Problem('http_version_not_supported', { cause });
    case 'HPE_INVALID_VERSION':
      return new Problem(isOfNewVersion(cause) ? 'http_version_not_supported' : 'invalid_request', { cause });
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Problem('request_timeout', { cause });
    default:
      return new Problem('invalid_request', { cause });
  }
}
