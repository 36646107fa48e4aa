import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { askEstimate } from './calls/estimate.ts';
import type { Estimate } from './calls/estimate.ts';
import type { GraphqlParams, RequestOptions } from './calls/requests.ts';

/** So that typing without a pause asks 100 times a minute at most: ESTIMATES_PER_MINUTE is 120 by default. */
const SETTLED_AFTER_MS = 600;

const KEPT_MS = 60_000;

export const ESTIMATES_KEY = ['explorer', 'estimate'];

export type ShownEstimate = {
  /** Null if there is none. */
  estimate: Estimate | null;
  /** Whether it is that of what was typed before. */
  isOutdated: boolean;
};

/** What the operation would cost, once it has stayed the same for a moment; `params` is null if there is none. */
export function useEstimate(
  params: GraphqlParams | null,
  { dataUrl, token }: Pick<RequestOptions, 'dataUrl' | 'token'>,
): ShownEstimate {
  const typed = params === null ? null : JSON.stringify(params);
  const settled = useSettled(typed);
  /** Where there are no estimates, none is asked for until the page is opened again. */
  const [urlWithout, setUrlWithout] = useState<string | null>(null);
  const { data, isPlaceholderData } = useQuery({
    queryKey: [...ESTIMATES_KEY, dataUrl, token.id, settled],
    queryFn: async ({ signal }) => {
      const asked = JSON.parse(settled ?? '{}') as GraphqlParams;
      const estimate = await askEstimate(asked, { dataUrl, token, signal });
      if (estimate === null) setUrlWithout(dataUrl);
      return estimate;
    },
    enabled: settled !== null && urlWithout !== dataUrl,
    placeholderData: keepPreviousData,
    staleTime: KEPT_MS,
    gcTime: KEPT_MS,
    retry: false,
    refetchOnWindowFocus: false,
    // There were too many.
    refetchInterval: ({ state }) => (state.data?.refusal?.retryAfterSec ?? 0) * 1_000,
  });
  if (settled === null || data === undefined || data === null) return { estimate: null, isOutdated: false };
  return { estimate: data, isOutdated: isPlaceholderData || typed !== settled };
}

/** The value, once it hasn't changed for a moment. */
function useSettled(value: string | null): string | null {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => {
      setSettled(value);
    }, SETTLED_AFTER_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [value]);
  return settled;
}
