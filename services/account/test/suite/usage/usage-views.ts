import type { Knex } from 'knex';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import type { Browser } from '../people.ts';
import { insertPeriod } from '../database/records.ts';

type Figures = {
  points_usage: number;
  requests_usage: number;
  time_sec_usage: number;
  traffic_bytes_usage: number;
};

type Group = Record<string, unknown> & { usage: Figures };

export type ShownUsage = {
  account_id: number;
  payer_id: number;
  view: string;
  interval: string;
  from: string;
  to: string;
  billing_period: { period_id: number; started_at: string; ended_at: string } | null;
  usage: Figures;
  groups: Group[];
  buckets: { started_at: string; usage: Figures; groups: Group[] }[];
};

/** A request that must succeed; `query` has no question mark. */
export async function shownUsage({ browser }: { browser: Browser }, query: string): Promise<ShownUsage> {
  const { status, text, body } = await browser.request('GET', `/usage?${query}`);
  if (status !== 200) throw new Error(`no usage: ${text}`);
  return body as unknown as ShownUsage;
}

/** The raw response, for formats other than JSON. */
export function fetchUsage(
  { publicUrl }: Pick<ServiceProcess, 'publicUrl'>,
  { browser }: { browser: Browser },
  query: string,
  init: { method?: string; accept?: string } = {},
): Promise<Response> {
  return fetch(`${publicUrl}/api/console/usage?${query}`, {
    method: init.method ?? 'GET',
    headers: {
      cookie: browser.cookie ?? '',
      ...(init.accept === undefined ? {} : { accept: init.accept }),
    },
  });
}

/** Points of the used buckets, by their start. */
export function pointsByBucket({ buckets }: ShownUsage): Record<string, number> {
  const used = buckets.filter(({ usage }) => usage.points_usage > 0);
  return Object.fromEntries(used.map(({ started_at, usage }) => [started_at, usage.points_usage]));
}

const startedMs = Date.now();

/** The UTC date `days` before the suite began; midnight during the suite changes nothing. */
export function dayAgo(days: number): string {
  return new Date(startedMs - days * 86_400_000).toISOString().slice(0, 10);
}

/** Four whole days as query parameters, and noon of the third. */
export const FOUR_DAYS = `from=${dayAgo(5)}&to=${dayAgo(2)}`;
export const THIRD_DAY_NOON = `${dayAgo(3)}T12:00:00Z`;

/** A period that covers those days and today. */
export function insertCoveringPeriod(
  { database }: { database: Knex },
  { account_id }: { account_id: number },
): Promise<number> {
  return insertPeriod(database, account_id, {
    started_at: new Date(`${dayAgo(20)}T00:00:00Z`),
    ended_at: new Date(Date.now() + 86_400_000),
  });
}
