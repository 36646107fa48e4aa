import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { ApiError } from '../../../api/client.ts';
import { useConnection } from '../../../api/connection.ts';
import { sessionQuery } from '../../../api/session.ts';
import { isViewing } from '../../../api/viewing.ts';
import { followPace } from './follow-pace.ts';
import type { FeedMode } from './follow-pace.ts';
import { paceQuery } from '../queries.ts';

const POLL_MS = 2_000;

/** Sums over hours cost more than the pace: they follow it at this distance. */
const SUMS_INTERVAL_MS = 4_000;

/** The pace as it changes: from the live feed, or polled where there is none. */
export function useLivePace() {
  const queryClient = useQueryClient();
  const { data: session } = useQuery(sessionQuery);
  const sessionId = session?.session_id;
  const { state: connection } = useConnection();
  const [mode, setMode] = useState<FeedMode>('polling');
  const pace = useQuery({
    ...paceQuery,
    refetchInterval: ({ state: { error } }) => {
      if (mode === 'live' || mode === 'paused') return false;
      if (!(error instanceof ApiError)) return POLL_MS;
      return error.problem?.status === 401 ? false : Math.max(POLL_MS, (error.retryAfterSec ?? 0) * 1_000);
    },
  });
  useEffect(() => {
    if (isViewing) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = followPace({
      onMode: setMode,
      onPace: (next) => {
        // A poll under way may have read older figures, which no later event would correct.
        void queryClient.cancelQueries(paceQuery).then(() => {
          queryClient.setQueryData(paceQuery.queryKey, next);
        });
        timer ??= setTimeout(() => {
          timer = undefined;
          void queryClient.invalidateQueries({ queryKey: ['usage'] });
        }, SUMS_INTERVAL_MS);
      },
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
    // A new session needs a new feed.
  }, [queryClient, sessionId]);
  // While the feed delivers, a request that failed before it came back says nothing.
  const isFailing = mode !== 'live' && pace.isError && pace.data !== undefined;
  const isPaused = mode === 'paused' || isFailing || connection !== 'connected';
  return { ...pace, mode, isPaused };
}
