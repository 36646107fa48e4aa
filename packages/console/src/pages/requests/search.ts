/** The address as it was typed. */
export type RequestsParams = { [Name in keyof RequestsSearch]?: unknown };

/** What the page shows, in its address. */
export type RequestsSearch = {
  range?: Range;
  code?: string;
  application?: number;
  request_id?: string;
};

export const RANGES = {
  '24h': { label: 'Last 24 hours', text: 'in the last 24 hours', ms: 86_400_000, interval: 'hour' },
  '7d': { label: 'Last 7 days', text: 'in the last 7 days', ms: 7 * 86_400_000, interval: 'day' },
  '30d': { label: 'Last 30 days', text: 'in the last 30 days', ms: 30 * 86_400_000, interval: 'day' },
} as const;

export type Range = keyof typeof RANGES;

export const DEFAULT_RANGE: Range = '24h';

/** An address may have been typed: what isn't valid doesn't count. */
export function requestsSearch(search: RequestsParams): RequestsSearch {
  const { range, code, application, request_id } = search;
  const requestId = typeof request_id === 'string' ? requestIdIn(request_id) : null;
  return {
    ...(typeof range === 'string' && Object.hasOwn(RANGES, range) ? { range: range as Range } : {}),
    ...(typeof code === 'string' && /^[a-z][a-z0-9_]{0,63}$/.test(code) ? { code } : {}),
    ...(Number.isSafeInteger(application) && Number(application) > 0
      ? { application: Number(application) }
      : {}),
    ...(requestId === null ? {} : { request_id: requestId }),
  };
}

/** The request id in a pasted text, such as a whole `X-Request-Id` header; null if there is none. */
export function requestIdIn(text: string): string | null {
  return /\b[0-9a-f]{32}\b/i.exec(text)?.[0].toLowerCase() ?? null;
}
