import { infiniteQueryOptions } from '@tanstack/react-query';
import { api, resultOf } from '../../api/client.ts';

/** More than the periods of 14 months, which usage is kept for. */
const PAGE = 24;

/** The account's own billing periods, newest first. */
export const periodsQuery = infiniteQueryOptions({
  queryKey: ['periods'],
  initialPageParam: null as string | null,
  queryFn: ({ signal, pageParam }) =>
    resultOf(
      api.GET('/api/console/periods', {
        signal,
        params: { query: { limit: PAGE, ...(pageParam === null ? {} : { cursor: pageParam }) } },
      }),
    ),
  getNextPageParam: ({ next_cursor }) => next_cursor,
});
