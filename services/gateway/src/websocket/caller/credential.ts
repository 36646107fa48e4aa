import type { IncomingMessage } from 'node:http';
import { Problem, invalidToken } from '@tollgate/http/problem';
import { bearerToken } from '../../http/bearer-token.ts';
import { queryOf } from '@tollgate/http/request-head';
import { isObject } from '../../operation-reader/json.ts';

/**
 * From the Authorization header, or from `?token=` because browsers can't set headers on an upgrade.
 * @throws {Problem} unauthorized for an invalid header or an empty parameter; invalid_request for two different tokens.
 */
export function tokenOfRequest(req: Pick<IncomingMessage, 'rawHeaders' | 'url'>): string | undefined {
  const inHeader = bearerToken(req.rawHeaders);
  const inQuery = new URLSearchParams(queryOf(req)).getAll('token');
  if (inQuery.includes('')) throw invalidToken();
  return onlyOne(inHeader === undefined ? inQuery : [inHeader, ...inQuery]);
}

/**
 * Removes `token`, and `Authorization` in the payload or its `headers`. `known` is the upgrade request's token.
 * @throws {Problem} unauthorized without a valid credential; invalid_request for two different tokens.
 */
export function takeToken(payload: unknown, known: string | undefined): { token: string; rest: unknown } {
  const { tokens, rest } = takeTokens(payload);
  const token = onlyOne(known === undefined ? tokens : [known, ...tokens]);
  if (token === undefined) throw new Problem('unauthorized', { detail: 'No access token was sent' });
  return { token, rest };
}

function takeTokens(payload: unknown): { tokens: string[]; rest: unknown } {
  if (!isObject(payload)) return { tokens: [], rest: payload };
  const { token, ...others } = payload;
  const own = withoutAuthorization(others);
  const { headers } = own.rest;
  const nested = isObject(headers) ? withoutAuthorization(headers) : undefined;
  const tokens = [
    ...(token === undefined || token === null ? [] : [asToken(token)]),
    ...[...own.credentials, ...(nested?.credentials ?? [])].map(asBearer),
  ];
  return { tokens, rest: nested === undefined ? own.rest : { ...own.rest, headers: nested.rest } };
}

function withoutAuthorization(fields: Record<string, unknown>) {
  const entries = Object.entries(fields);
  const isCredential = ([name]: [string, unknown]) => name.toLowerCase() === 'authorization';
  return {
    credentials: entries.filter(isCredential).flatMap(([, value]) => value ?? []),
    rest: Object.fromEntries(entries.filter((entry) => !isCredential(entry))),
  };
}

function asToken(value: unknown): string {
  if (typeof value !== 'string' || value === '') throw invalidToken();
  return value;
}

function asBearer(value: unknown): string {
  const token = typeof value === 'string' ? bearerToken(['authorization', value]) : undefined;
  if (token === undefined) throw invalidToken();
  return token;
}

function onlyOne(tokens: readonly string[]): string | undefined {
  const [token, ...others] = new Set(tokens);
  if (others.length > 0) {
    throw new Problem('invalid_request', { detail: 'There is more than one access token.' });
  }
  return token;
}
