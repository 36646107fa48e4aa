import type { Credits, Estimate, Usage } from './api.ts';
import { ConnectionError, DataApiError } from './errors.ts';
import { send } from './exchange.ts';
import type { Answer, Bounds } from './exchange.ts';
import { isQuery } from './operation-type.ts';
import { errorOfRefusal, graphqlErrors, numberOf, numberOfField, objectOf } from './read-errors.ts';
import { createSubscriptions } from './subscriptions.ts';
import { createTokens } from './tokens.ts';
import type { FreshToken } from './tokens.ts';

export type ClientOptions = {
  /** Address of the API without a path, such as `https://api.example.com`. */
  url: string;
  /** Of an application: both, or `token`. Never in a browser. */
  clientId?: string | undefined;
  clientSecret?: string | undefined;
  /** A manual token, or a function that gets a new one, for instance from your own server. */
  token?: string | (() => string | FreshToken | Promise<string | FreshToken>) | undefined;
  /** Path of the data endpoint. Default: `/graphql`. */
  path?: string | undefined;
  /** Default: `/oauth2/token` of `url`. */
  tokenUrl?: string | undefined;
  /** Where `/api/usage` and `/api/credits` are. Default: `url`. */
  accountUrl?: string | undefined;
  /** For a proxy or a dispatcher of your own. Default: the global one. */
  fetch?: typeof fetch | undefined;
  /** The class, for subscriptions on Node.js 20. Default: the global one. */
  webSocket?: unknown;
  /** Of each attempt. Default: 30,000. */
  timeoutMs?: number | undefined;
  /** How long a call waits in all when it is told to retry later. Default: 30,000. */
  maxWaitMs?: number | undefined;
  /** After decoding. Default: 8 MiB. */
  maxResponseBytes?: number | undefined;
  /** Attempts to reconnect subscriptions, each with a longer wait. Default: 20. */
  maxReconnects?: number | undefined;
};

export type Variables = Record<string, unknown>;

export type CallOptions = {
  operationName?: string | undefined;
  signal?: AbortSignal | undefined;
  /** The mutation may be sent twice: it is retried like a query. */
  idempotent?: boolean | undefined;
};

export type Result<Data> = ReturnType<typeof resultOf> & { data: Data };

export type TollgateClient = ReturnType<typeof createClient>;

type Fields = Record<string, unknown>;

const MAX_TOKEN_RESPONSE_BYTES = 65_536;
/** RFC 6750, section 2.1. The error about another one would quote it. */
const TOKEN = /^[\w.~+/-]+=*$/;
const GRAPHQL_HEADERS = {
  accept: 'application/graphql-response+json, application/json;q=0.9',
  'content-type': 'application/json',
};

/**
 * A client of the data API, whose calls share a token.
 * @throws {TypeError} if the options don't go together, or a secret would be in a browser
 */
export function createClient(options: ClientOptions) {
  const { fetch = globalThis.fetch, timeoutMs = 30_000, maxWaitMs = 30_000 } = options;
  const bounds = { fetch, timeoutMs, maxWaitMs, maxBytes: options.maxResponseBytes ?? 8_388_608 };
  const dataUrl = urlOf(options.url) + (options.path ?? '/graphql');
  const accountUrl = urlOf(options.accountUrl ?? options.url);
  const tokens = createTokens(tokenSource(options, bounds));
  const sender = { ...bounds, tokens, isFixedToken: typeof options.token === 'string' };
  const webSocket = options.webSocket ?? objectOf(globalThis)['WebSocket'];
  const socketUrl = dataUrl.replace(/^http/, 'ws');
  const subscriptions = createSubscriptions(socketUrl, tokens, webSocket, options.maxReconnects ?? 20);

  function post(url: string, query: string, variables?: Variables, call: CallOptions = {}): Promise<Answer> {
    const { operationName, signal, idempotent = false } = call;
    const body = JSON.stringify({ query, variables, operationName });
    const isRepeatable = idempotent || url !== dataUrl || isQuery(query, operationName);
    return send(url, { body, headers: GRAPHQL_HEADERS, signal, isRepeatable }, sender);
  }

  async function get<T>(path: string, signal: AbortSignal | undefined): Promise<T> {
    return (await send(accountUrl + path, { signal }, sender)).json as T;
  }

  return {
    /**
     * Runs a query or a mutation.
     * @throws {TollgateError} by its code; DataApiError if the result has errors, with the data that there is
     */
    request: async <Data = Fields>(query: string, variables?: Variables, call?: CallOptions) =>
      resultOf(await post(dataUrl, query, variables, call)) as Result<Data>,

    /** What the operation would cost at most. It isn't executed, and costs nothing. */
    estimate: async (query: string, variables?: Variables, call?: CallOptions): Promise<Estimate> => {
      const { json } = await post(`${dataUrl}/estimate`, query, variables, call);
      return objectOf(objectOf(json)['extensions'])['estimate'] as Estimate;
    },

    /** Events until the subscription is complete. Stop by leaving the loop, or by the signal. */
    subscribe: <Data = Fields>(
      query: string,
      variables: Variables = {},
      { operationName, signal }: Omit<CallOptions, 'idempotent'> = {},
    ) => subscriptions.subscribe<Data>({ query, variables, operationName }, signal),

    /** The billing period that the calls are charged to, or another one of the same payer. */
    usage: ({ periodId, signal }: { periodId?: number; signal?: AbortSignal } = {}) =>
      get<Usage>(`/api/usage${periodId === undefined ? '' : `?period_id=${String(periodId)}`}`, signal),

    /** Points in addition to the plan's. */
    credits: ({ signal }: { signal?: AbortSignal } = {}) => get<Credits>('/api/credits', signal),

    /** Ends the subscriptions. */
    close: () => subscriptions.close(),
  };
}

function tokenSource(options: ClientOptions, bounds: Bounds): () => Promise<FreshToken> {
  const { url, tokenUrl, clientId: client_id, clientSecret: client_secret, token } = options;
  if (token !== undefined && client_secret === undefined)
    return async () => checkedToken(typeof token === 'string' ? token : await token());
  if (client_id === undefined || client_secret === undefined || token !== undefined)
    throw new TypeError('Give `clientId` and `clientSecret`, or `token`.');
  if ('document' in globalThis)
    throw new TypeError('A client secret in a browser is public: give `token`, which asks your server.');
  const endpoint = tokenUrl === undefined ? `${urlOf(url)}/oauth2/token` : urlOf(tokenUrl);
  const form = { grant_type: 'client_credentials', scope: 'api', client_id, client_secret };
  const own = { ...bounds, maxBytes: MAX_TOKEN_RESPONSE_BYTES };
  return async () => {
    const { json } = await send(endpoint, { body: new URLSearchParams(form) }, own);
    const { access_token: accessToken, expires_in: expiresInSec } = objectOf(json);
    return checkedToken({ accessToken, expiresInSec });
  };
}

function resultOf({ status, headers, json }: Answer) {
  const { data, errors: stated, extensions } = objectOf(json);
  const errors = graphqlErrors(stated);
  const [first] = errors;
  const cost = numberOfField(headers, 'x-points-cost');
  const requestId = headers.get('x-request-id') ?? undefined;
  // The data API's errors have no request ID of Tollgate.
  if (first?.extensions?.['request_id'] !== undefined) throw errorOfRefusal(first, status, headers);
  if (first !== undefined) {
    const { message } = first;
    throw new DataApiError({ code: 'data_api_error', message, status, requestId, errors, data, cost });
  }
  if (data === undefined) {
    const message = 'The response is not a GraphQL result.';
    throw new ConnectionError({ code: 'invalid_response', message, status, requestId });
  }
  const [, left, resetSec] = /;r=(\d+);t=(\d+)/.exec(headers.get('ratelimit') ?? '') ?? [];
  return {
    data,
    extensions: objectOf(extensions),
    /** Points. */
    cost,
    /** Points left in the billing period; undefined without a limit. */
    remaining: numberOfField(headers, 'x-points-remaining'),
    /** Points that it could cost at most, if the server estimates. */
    estimate: numberOfField(headers, 'x-points-estimate'),
    /** Calls per minute; undefined without a limit. */
    rate: left === undefined ? undefined : { remaining: Number(left), resetSec: Number(resetSec) },
    /** `active` or `grace`. */
    billingStatus: headers.get('x-billing-status') ?? undefined,
    requestId,
  };
}

function checkedToken(given: unknown): FreshToken {
  const { accessToken, expiresInSec } = objectOf(typeof given === 'string' ? { accessToken: given } : given);
  if (typeof accessToken === 'string' && TOKEN.test(accessToken))
    return { accessToken, expiresInSec: numberOf(expiresInSec) };
  const message = 'There is no access token in the response.';
  throw new ConnectionError({ code: 'invalid_response', message });
}

/** @throws {TypeError} that doesn't quote the address, which could hold a password */
function urlOf(text: string): string {
  const { protocol, username, password } = URL.canParse(text) ? new URL(text) : { protocol: '' };
  if (/^https?:$/.test(protocol) && username === '' && password === '')
    return text.endsWith('/') ? text.slice(0, -1) : text;
  throw new TypeError('A URL must be http or https, without a user name or a password.');
}
