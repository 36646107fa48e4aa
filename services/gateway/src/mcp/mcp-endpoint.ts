import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createMcpHandler } from '@modelcontextprotocol/server';
import type { RequestHandler, Response as ExpressResponse } from 'express';
import { accessTokenHash } from '@tollgate/credentials/access-token';
import { REQUEST_ID_HEADER } from '@tollgate/log/request-id';
import type { AccessLog } from '@tollgate/log/access-log';
import type { Logger } from '@tollgate/log';
import { Problem, toProblem } from '@tollgate/http/problem';
import { fieldValues } from '@tollgate/http/request-head';
import { bearerToken } from '../http/bearer-token.ts';
import type { AccountRate } from '../http/account-rate.ts';
import type { Room } from '../http/room.ts';
import { parsed } from '../operation-reader/json-request.ts';
import { assertShallow } from '../operation-reader/protocol-names.ts';
import { whoOf } from '../pipeline/authenticate/authenticate.ts';
import type { Authenticate } from '../pipeline/authenticate/authenticate.ts';
import type { Entitle } from '../pipeline/entitle/entitle.ts';
import type { AssertOrigin } from './origin-check.ts';
import type { Challenge } from './protected-resource.ts';
import { createToolServer } from './tools.ts';
import type { McpCaller } from './caller.ts';
import type { ToolNeeds } from './tools.ts';

export type McpEndpointOptions = {
  tools: ToolNeeds;
  assertOrigin: AssertOrigin;
  authenticate: Authenticate;
  entitle: Entitle;
  challenge: Challenge;
  /** Of an account, with whatever token: each request takes some milliseconds. */
  rate: AccountRate;
  /** The requests of each token, by its hash. */
  underWay: Room<string>;
  readWhole: (req: IncomingMessage) => Promise<Buffer | null>;
  logger: Pick<Logger, 'debug'>;
  accessLog: Pick<AccessLog, 'note'> | null;
};

/**
 * `POST /mcp`: Streamable HTTP without sessions, of both eras of the protocol. What concerns the request itself is
 * refused by HTTP; what the plan refuses is a tool's result (docs/design/agents.md).
 */
export function createMcpEndpoint(options: McpEndpointOptions): {
  handler: RequestHandler;
  close: () => Promise<void>;
} {
  const { tools, assertOrigin, authenticate, challenge, rate, underWay, accessLog } = options;
  const { logFailure, addressOf } = tools;
  const server = createMcpHandler(
    ({ authInfo }) => createToolServer(tools, authInfo?.extra?.['caller'] as McpCaller),
    {
      // A server that changes nothing has no events to listen to.
      maxSubscriptions: 0,
      onerror: (error) => {
        options.logger.debug({ err: error }, 'an MCP request was refused');
      },
    },
  );

  async function serve(req: IncomingMessage, res: ExpressResponse, requestId: string): Promise<void> {
    if (req.method !== 'POST') throw new Problem('method_not_allowed', { headers: { allow: 'POST' } });
    assertOrigin(req);
    const token = await authenticate(req, requestId);
    accessLog?.note(req, whoOf(token));
    rate.check(token.account_id);
    rate.take(token.account_id);
    const bearer = bearerToken(req.rawHeaders) ?? '';
    const place = underWay.take(accessTokenHash(bearer), 1);
    try {
      const body = await options.readWhole(req);
      const parsedBody = messageIn(body);
      const gone = new AbortController();
      res.once('close', () => {
        gone.abort();
      });
      const { signal } = gone;
      const payer = await payerOrNull(() => options.entitle(token, requestId));
      const isCall = (parsedBody as { method?: unknown } | null)?.method === 'tools/call';
      const caller: McpCaller = { req, requestId, signal, token, payer, isCall };
      const response = await server.fetch(webRequest(req, signal), {
        parsedBody,
        authInfo: {
          token: bearer,
          clientId: token.client_id,
          scopes: token.scope.split(' '),
          resourceMetadataUrl: challenge.metadataUrl,
          extra: { caller },
        },
      });
      await send(response, res, signal);
    } finally {
      place.release();
    }
  }

  return {
    handler: (req, res) => {
      const requestId = String(res.getHeader(REQUEST_ID_HEADER) ?? '');
      serve(req, res, requestId).catch((error: unknown) => {
        const problem = challenge.withChallenge(toProblem(error));
        if (problem.status >= 500) logFailure(requestId, problem, addressOf(req));
        refuse(res, problem, requestId);
      });
    },
    close: server.close,
  };
}

/** Null where calls are refused: each call says why. @throws {Problem} service_unavailable */
async function payerOrNull(entitle: () => ReturnType<Entitle>): Promise<McpCaller['payer']> {
  try {
    return await entitle();
  } catch (error) {
    if (error instanceof Problem && error.status < 500) return null;
    throw error;
  }
}

/** @throws {Problem} invalid_request */
function messageIn(body: Buffer | null): unknown {
  const text = (body ?? '').toString();
  assertShallow(text);
  const message = parsed(text);
  // One HTTP request would be many tool calls.
  if (Array.isArray(message))
    throw new Problem('invalid_request', { detail: 'JSON-RPC batches are not supported.' });
  return message;
}

function webRequest(req: IncomingMessage, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const name of [
    'accept',
    'content-type',
    'user-agent',
    'mcp-protocol-version',
    'mcp-method',
    'mcp-name',
  ])
    for (const value of fieldValues(req.rawHeaders, name)) headers.append(name, value);
  return new Request('http://gateway/mcp', { method: 'POST', headers, signal });
}

async function send(response: Response, res: ExpressResponse, signal: AbortSignal): Promise<void> {
  res.status(response.status);
  response.headers.forEach((value, name) => {
    res.setHeader(name, value);
  });
  res.setHeader('cache-control', 'no-store');
  if (response.body === null) {
    res.end();
    return;
  }
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  signal.addEventListener('abort', () => void reader.cancel().catch(() => undefined), { once: true });
  res.flushHeaders();
  for (;;) {
    const { done, value } = await reader.read();
    if (done || signal.aborted) break;
    if (!res.write(value)) await once(res, 'drain', { signal }).catch(() => undefined);
  }
  res.end();
}

/** A JSON-RPC error without an id, as the transport's specification has it for a refused request. */
function refuse(res: ExpressResponse, problem: Problem, requestId: string): void {
  if (res.headersSent) {
    res.destroy();
    return;
  }
  const { code, status, message, extensions, headers } = problem;
  res.status(status).set({ ...headers, 'cache-control': 'no-store' });
  const data = { code, request_id: requestId, ...extensions };
  res.json({ jsonrpc: '2.0', error: { code: status === 400 ? -32_600 : -32_000, message, data } });
}
