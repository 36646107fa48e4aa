import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, resultOf } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';
import { serverNowMs } from '../../api/server-clock.ts';
import { DEFAULT_RANGE, RANGES } from './search.ts';
import type { RequestsSearch } from './search.ts';

export type RefusedCall = components['schemas']['RefusedCall'];
export type RefusalCounts = components['schemas']['RefusalCounts'];

/** A call that was refused just now appears by itself. */
const LIVE_INTERVAL_MS = 3_000;

/** More than the 60 calls of a burst that are recorded at once (ADR 0045), so that a burst is one row. */
const PAGE = 100;

function sinceOf({ range = DEFAULT_RANGE }: RequestsSearch): string {
  return new Date(serverNowMs() - RANGES[range].ms).toISOString();
}

function filterOf({ code, application }: RequestsSearch) {
  return {
    ...(code === undefined ? {} : { code }),
    ...(application === undefined ? {} : { application_id: application }),
  };
}

/** Single calls, newest first. A request id finds a call whatever the other filters are. */
export function refusalsQuery(search: RequestsSearch) {
  return infiniteQueryOptions({
    queryKey: ['refusals', 'list', search],
    queryFn: ({ signal, pageParam }) => {
      const { request_id } = search;
      const wanted =
        request_id === undefined ? { ...filterOf(search), from: sinceOf(search) } : { request_id };
      const query = { ...wanted, limit: PAGE, ...(pageParam === null ? {} : { cursor: pageParam }) };
      return resultOf(api.GET('/api/console/refusals', { signal, params: { query } }));
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    refetchInterval: LIVE_INTERVAL_MS,
    placeholderData: keepPreviousData,
  });
}

/** Exact numbers by code, by application and over time. */
export function refusalCountsQuery(search: RequestsSearch) {
  const { range = DEFAULT_RANGE } = search;
  return queryOptions({
    queryKey: ['refusals', 'counts', range, search.code, search.application],
    queryFn: ({ signal }) => {
      const query = { ...filterOf(search), interval: RANGES[range].interval, from: sinceOf(search) };
      return resultOf(api.GET('/api/console/refusals/counts', { signal, params: { query } }));
    },
    refetchInterval: LIVE_INTERVAL_MS,
    placeholderData: keepPreviousData,
  });
}
