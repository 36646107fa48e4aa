import { queryOptions } from '@tanstack/react-query';
import { getIntrospectionQuery } from 'graphql';
import type { IntrospectionQuery } from 'graphql';
import { api, resultOf } from '../../api/client.ts';
import { post } from './calls/requests.ts';
import type { RequestOptions, TokenSource } from './calls/requests.ts';
import { readCosts } from './calls/costs.ts';

const SCHEMA_STALE_MS = 3_600_000;
/** They take from the rate of estimates. */
const COSTS_STALE_MS = 600_000;

/** The schema, or why there is none. */
export type LoadedSchema = { introspection: IntrospectionQuery | null; error: string | null };

const NO_SCHEMA = 'The schema isn’t available now.';

/** The schema as account knows it, which is no call: it costs nothing. */
export const schemaQuery = queryOptions({
  queryKey: ['explorer', 'schema'],
  queryFn: async ({ signal }): Promise<LoadedSchema> => {
    const { introspection } = await resultOf(api.GET('/api/console/explorer/schema', { signal }));
    return introspection === null
      ? { introspection: null, error: NO_SCHEMA }
      : { introspection: introspection as unknown as IntrospectionQuery, error: null };
  },
  staleTime: SCHEMA_STALE_MS,
  refetchOnWindowFocus: false,
});

/** Reads the schema by a call, which costs points. */
export async function callForSchema(dataUrl: string, token: TokenSource): Promise<LoadedSchema> {
  const { signal } = new AbortController();
  const { result, report } = await post(
    { query: getIntrospectionQuery({ inputValueDeprecation: true }), operationName: 'IntrospectionQuery' },
    { dataUrl, token, signal },
  );
  const data = typeof result === 'object' && result !== null && 'data' in result ? result.data : null;
  const isSchema = typeof data === 'object' && data !== null && '__schema' in data;
  return isSchema
    ? { introspection: data as IntrospectionQuery, error: null }
    : { introspection: null, error: report.refusal?.message ?? 'The data API does not show its schema.' };
}

/** What the parts of the schema cost, which is no call either. Null where the data endpoint has no costs. */
export const costsQuery = ({ dataUrl, token }: Pick<RequestOptions, 'dataUrl' | 'token'>) =>
  queryOptions({
    queryKey: ['explorer', 'costs', dataUrl, token.id],
    queryFn: ({ signal }) => readCosts({ dataUrl, token, signal }),
    staleTime: COSTS_STALE_MS,
    retry: false,
    refetchOnWindowFocus: false,
  });

const TOKENS_MAX = 100;

/** Manually created tokens that calls can be made with, newest first. */
export const activeTokensQuery = queryOptions({
  queryKey: ['tokens', 'active'],
  queryFn: async ({ signal }) => {
    const query = { limit: TOKENS_MAX, status: 'Active' } as const;
    return (await resultOf(api.GET('/api/console/tokens', { signal, params: { query } }))).tokens;
  },
});
