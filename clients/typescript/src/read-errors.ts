import { ERROR_CLASSES } from './error-classes.ts';
import { ConnectionError, DataApiError, TollgateError } from './errors.ts';
import type { ErrorFacts, GraphQLErrorLike } from './errors.ts';
import { retryAfterMs } from './retry-after.ts';

function errorOfCode(facts: ErrorFacts): TollgateError {
  return new (ERROR_CLASSES.get(facts.code) ?? TollgateError)(facts);
}

/** Of a refusal's GraphQL error (docs/errors.md), in a response or in a message of a WebSocket. */
export function errorOfRefusal(
  { message, extensions: details = {} }: GraphQLErrorLike,
  status?: number,
  headers = new Headers(),
): TollgateError {
  const resets = stringOf(details['resets_at'] ?? details['period_ended_at']) ?? '';
  const waitSec = numberOf(details['retry_after_sec']);
  return errorOfCode({
    code: stringOf(details['code']) ?? 'unknown',
    message,
    status,
    requestId: stringOf(details['request_id']) ?? headers.get('x-request-id') ?? undefined,
    limit: numberOf(details['limit']),
    remaining: numberOf(details['remaining']),
    retryAfterMs: retryAfterMs(headers) ?? (waitSec === undefined ? undefined : Math.max(waitSec, 0) * 1_000),
    resetsAt: Number.isNaN(Date.parse(resets)) ? undefined : new Date(resets),
    details,
  });
}

/** Of a response that isn't 2xx, in any of the forms of docs/errors.md, or in none. */
export function errorOfResponse(status: number, headers: Headers, body: unknown): TollgateError {
  const { errors: stated, code: own, detail, title, error, error_description, ...rest } = objectOf(body);
  const errors = graphqlErrors(stated);
  const [first] = errors;
  if (headers.has('proxy-status')) {
    const code = first === undefined ? 'upstream_error' : 'data_api_error';
    const message = first?.message ?? `The data API answered with status ${String(status)}.`;
    const cost = numberOfField(headers, 'x-points-cost');
    return new DataApiError({ code, message, status, retryAfterMs: retryAfterMs(headers), errors, cost });
  }
  if (first?.extensions?.['code'] !== undefined) return errorOfRefusal(first, status, headers);
  // A body of an unknown form, such as a proxy's that repeats the request, isn't kept.
  const code = stringOf(own) ?? stringOf(error);
  const extensions = code === undefined ? { code: `http_${String(status)}` } : { ...rest, code };
  const fallback = `The server answered with status ${String(status)}.`;
  const message = stringOf(detail) ?? stringOf(title) ?? stringOf(error_description) ?? fallback;
  return errorOfRefusal({ message, extensions }, status, headers);
}

/** A close of a WebSocket, whose reason begins with a code. */
export function errorOfClose(closeCode: number, reason: string): TollgateError {
  const [, code, text] = /^([a-z_]+)(?:: ?(.*))?$/s.exec(reason) ?? [];
  const message = text ?? `The connection was closed with code ${String(closeCode)}.`;
  const details = { close_code: closeCode };
  if (code !== undefined) return errorOfCode({ code, message, details });
  return new ConnectionError({ code: 'connection_failed', message, details });
}

export function graphqlErrors(value: unknown): GraphQLErrorLike[] {
  if (!Array.isArray(value)) return [];
  return value.map(objectOf).map((each) => ({ ...each, message: stringOf(each['message']) ?? 'Error' }));
}

export function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

const stringOf = (value: unknown) => (typeof value === 'string' ? value : undefined);

export const numberOf = (value: unknown) =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

export function numberOfField(headers: Headers, name: string): number | undefined {
  const value = headers.get(name) ?? '';
  return /^\d+(\.\d+)?$/.test(value) ? Number(value) : undefined;
}
