import { queryOptions } from '@tanstack/react-query';
import { getIntrospectionQuery } from 'graphql';
import type { IntrospectionQuery } from 'graphql';
import { post } from './calls/post.ts';
import type { TokenSource } from './calls/post.ts';
import type { CallReport } from './calls/report.ts';

const SCHEMA_STALE_MS = 3_600_000;

/** The schema, kept for an hour: introspection is a call that costs points. `error` says why there is none. */
export type LoadedSchema = {
  introspection: IntrospectionQuery | null;
  report: CallReport;
  error: string | null;
};

export function schemaQuery(dataUrl: string, token: TokenSource) {
  return queryOptions({
    queryKey: ['explorer', 'schema', dataUrl],
    queryFn: async ({ signal }): Promise<LoadedSchema> => {
      const query = getIntrospectionQuery({ inputValueDeprecation: true });
      const { result, report } = await post(
        { query, operationName: 'IntrospectionQuery' },
        { dataUrl, token, signal },
      );
      const data = typeof result === 'object' && result !== null && 'data' in result ? result.data : null;
      const isSchema = typeof data === 'object' && data !== null && '__schema' in data;
      return isSchema
        ? { introspection: data as IntrospectionQuery, report, error: null }
        : {
            introspection: null,
            report,
            error: report.refusal?.message ?? 'The data API does not show its schema.',
          };
    },
    staleTime: ({ state: { data } }) => (data?.introspection ? SCHEMA_STALE_MS : 0),
    retry: false,
    refetchOnWindowFocus: false,
  });
}
