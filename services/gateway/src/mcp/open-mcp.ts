import type { RequestHandler } from 'express';
import type { Cors } from '@tollgate/http/cors';
import type { HttpHandler } from '@tollgate/plain-http/message';
import { keepEach } from '@tollgate/plain-http/repeated-heads';
import { Problem } from '@tollgate/http/problem';
import type { ComposeContext } from '@tollgate/server';
import type { Config } from '../config.ts';
import type { EstimateRate } from '../estimate/estimate-rate.ts';
import { createAccountRate } from '../http/account-rate.ts';
import { createRoom } from '../http/room.ts';
import type { PayerEntitlement } from '../ledger/principal.ts';
import { createReadWhole } from '../passed-on/whole-body.ts';
import type { Authenticate } from '../pipeline/authenticate/authenticate.ts';
import type { Entitle } from '../pipeline/entitle/entitle.ts';
import type { LogFailure } from '../refusals/failure-log.ts';
import { createCallData } from './collected-answer.ts';
import { createMcpEndpoint } from './mcp-endpoint.ts';
import { createAssertOrigin } from './origin-check.ts';
import { createChallenge, protectedResource } from './protected-resource.ts';
import { createReadUsage } from './read-usage.ts';
import { createSchemaSearch } from './schema-search.ts';

export type Mcp = { endpoint: RequestHandler; metadata: RequestHandler; close: () => Promise<void> };

/** A document, its variables, and what the protocol says around them. */
const MAX_BODY_BYTES = 262_144;
const MAX_BODIES_ARRIVING = 256;
const REQUESTS_PER_TOKEN = 8;

/** Null without `STREAMING_URL`: neither a token's audience nor a request's host could be compared. */
export function openMcp(
  { config, logger, trusts, addressOf, accessLog }: ComposeContext<Config>,
  needs: {
    /** Which authenticates and entitles by what follows. */
    dataEndpointOf: (caller: { authenticate: Authenticate; entitle: Entitle }) => HttpHandler;
    authenticate: Authenticate;
    entitle: Entitle;
    estimateRate: EstimateRate;
    schemaText: () => string | null;
    cors: Cors | null;
    logFailure: LogFailure;
  },
): Mcp | null {
  const { STREAMING_URL: streamingUrl } = config;
  if (streamingUrl === undefined) return null;
  const { authenticate, estimateRate, logFailure } = needs;
  const entitle = entitleByMcp(needs.entitle);
  const challenge = createChallenge(streamingUrl);
  const { handler, close } = createMcpEndpoint({
    tools: {
      callData: createCallData(needs.dataEndpointOf({ authenticate, entitle })),
      readUsage: createReadUsage({
        accountUrl: config.ACCOUNT_PUBLIC_URL,
        timeoutMs: config.PLAIN_ROUTE_TIMEOUT_MS,
        trusts,
      }),
      schema: createSchemaSearch(needs.schemaText),
      estimateRate,
      documentLimits: {
        maxDocumentBytes: config.GRAPHQL_MAX_DOCUMENT_BYTES,
        maxTokens: config.GRAPHQL_MAX_TOKENS,
      },
      logFailure,
      addressOf,
    },
    assertOrigin: createAssertOrigin({ streamingUrl, allowsOrigin: needs.cors?.allows ?? null, trusts }),
    authenticate,
    entitle: needs.entitle,
    challenge,
    rate: createAccountRate(config.MCP_REQUESTS_PER_MINUTE, 'MCP requests'),
    underWay: createRoom<string>({
      total: Infinity,
      perHolder: REQUESTS_PER_TOKEN,
      tooMuchOfHolder: () =>
        new Problem('too_many_requests', {
          detail: `A token may have ${String(REQUESTS_PER_TOKEN)} requests under way.`,
          headers: { 'retry-after': '1' },
        }),
      what: 'MCP requests',
    }),
    readWhole: createReadWhole({
      maxBytes: MAX_BODY_BYTES,
      timeoutMs: config.PLAIN_ROUTE_BODY_TIMEOUT_MS,
      maxArriving: MAX_BODIES_ARRIVING,
    }),
    logger,
    accessLog,
  });
  const issuer = config.ISSUER_URL ?? new URL(streamingUrl).origin;
  return { endpoint: handler, metadata: protectedResource({ streamingUrl, issuer }), close };
}

/** What plans say of MCP alone. @throws {Problem} mcp_not_in_plan, and what `entitle` throws */
function entitleByMcp(entitle: Entitle): Entitle {
  // One object while the entitlement is kept: admissions are gathered by it.
  const ofPayer = keepEach((payer: PayerEntitlement): PayerEntitlement => {
    const { callRules } = payer;
    const { mcp, mcp_points_per_call_limit: limit } = callRules ?? {};
    if (mcp === false) throw new Problem('mcp_not_in_plan');
    if (limit === undefined) return payer;
    const points_per_call_limit = Math.min(limit, callRules?.points_per_call_limit ?? limit);
    return { ...payer, callRules: { ...callRules, points_per_call_limit } };
  });
  return (token, requestId) => {
    const payer = entitle(token, requestId);
    return payer instanceof Promise ? payer.then(ofPayer) : ofPayer(payer);
  };
}
