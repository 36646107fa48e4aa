import type { Logger } from '@tollgate/log';
import { boundedBytes } from '../../http/bounded-bytes.ts';
import { INTROSPECTION_QUERY } from './introspection-query.ts';

const KEPT_MS = 300_000;
const RETRY_MS = 10_000;
const TIMEOUT_MS = 10_000;
const MAX_BYTES = 16 * 1_048_576;

type Introspection = { __schema: Record<string, unknown> };

/** The data API's schema; null where it isn't known. */
export type SchemaSource = () => Promise<Introspection | null>;

/** Asks the data API itself, not more often than each five minutes, however many customers open the explorer. */
export function createSchemaSource({
  url,
  logger,
}: {
  url: string | undefined;
  logger: Logger;
}): SchemaSource {
  if (url === undefined) return () => Promise.resolve(null);
  let known: Introspection | null = null;
  let nextAtMs = 0;
  let underWay: Promise<void> | null = null;
  const refresh = async (): Promise<void> => {
    try {
      known = await readSchema(url);
      nextAtMs = performance.now() + KEPT_MS;
    } catch (error) {
      nextAtMs = performance.now() + RETRY_MS;
      logger.warn({ err: error }, 'The schema for the explorer could not be read.');
    }
    underWay = null;
  };
  return async () => {
    if (performance.now() >= nextAtMs) {
      underWay ??= refresh();
      await underWay;
    }
    return known;
  };
}

/** @throws {Error} if there is no schema in the response. */
async function readSchema(url: string): Promise<Introspection> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ query: INTROSPECTION_QUERY, operationName: 'IntrospectionQuery' }),
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const bytes = await boundedBytes(
    (response.body ?? []) as AsyncIterable<Uint8Array>,
    MAX_BYTES,
    () => new Error(`The schema is larger than ${String(MAX_BYTES)} bytes.`),
  );
  const answer: unknown = JSON.parse(bytes.toString('utf8'));
  const data = memberOf(answer, 'data');
  const schema = memberOf(data, '__schema');
  if (typeof schema !== 'object' || schema === null)
    throw new Error(`The response (${String(response.status)}) has no schema.`);
  return { __schema: schema as Record<string, unknown> };
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
