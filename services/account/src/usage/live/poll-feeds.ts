import { Problem, isServiceUnavailable } from '@tollgate/http/problem';
import type { Logger } from '@tollgate/log';
import type { SessionLifetimes } from '../../identity/sessions/session-store.ts';
import type { Query } from '../../platform/database/query.ts';
import { paceAnswer } from '../views/pace/pace-answer.ts';
import type { Feed, FeedEvent } from './feed.ts';
import type { FeedMetrics } from './feed-metrics.ts';
import { findFeedStates } from './feed-states.ts';

/** Less than the pause between two polls, and a bound when new feeds cause more of them. */
const MIN_INTERVAL_MS = 400;

/** Shares and paces change with time, too. */
const REFRESH_MS = 30_000;

/** Then the browser reconnects, perhaps to another replica. */
const MAX_AGE_MS = 3_600_000;

export type PollOptions = {
  query: Query;
  lifetimes: SessionLifetimes;
  logger: Pick<Logger, 'error'>;
  metrics: Pick<FeedMetrics, 'events'>;
};

type Content = { event: FeedEvent; answer: object };

/**
 * Sends each feed what has changed for it, and ends those whose session has ended. @throws {Problem}
 * service_unavailable
 */
export async function pollFeeds(options: PollOptions, feeds: readonly Feed[]): Promise<void> {
  if (feeds.length === 0) return;
  const { query, lifetimes, metrics } = options;
  const sessionIds = [...new Set(feeds.map(({ session_id }) => session_id))];
  const states = await findFeedStates(query, sessionIds, lifetimes);
  const versions = new Map(states.map(({ session_id, version }) => [session_id, version]));
  const contents = new Map<number, Content>();
  for (const feed of feeds) {
    const version = versions.get(feed.session_id);
    if (version === undefined) {
      send(metrics, feed, { event: 'session_ended', answer: {} });
      feed.end();
    } else if (isDue(feed, version)) {
      const content = contents.get(feed.account_id) ?? (await contentOf(options, feed.account_id));
      contents.set(feed.account_id, content);
      send(metrics, feed, content, version);
    }
    if (performance.now() - feed.openedAtMs > MAX_AGE_MS) feed.end();
  }
}

/** Says once that figures are unavailable for now. */
export function pauseFeeds({ metrics }: Pick<PollOptions, 'metrics'>, feeds: Iterable<Feed>): void {
  for (const feed of feeds) if (!feed.isPaused) send(metrics, feed, { event: 'paused', answer: {} });
}

function send(
  metrics: PollOptions['metrics'],
  feed: Feed,
  { event, answer }: Content,
  version?: string,
): void {
  feed.send(event, answer, version);
  metrics.events.inc({ event });
}

async function contentOf({ query, logger }: PollOptions, accountId: number): Promise<Content> {
  try {
    return { event: 'pace', answer: await paceAnswer(query, accountId, new Date()) };
  } catch (error) {
    if (isServiceUnavailable(error)) throw error;
    if (error instanceof Problem && error.code === 'no_billing_period') {
      return { event: 'no_billing_period', answer: {} };
    }
    // One account's fault must not pause the others.
    logger.error({ err: error, account_id: accountId }, 'live usage of an account cannot be shown');
    return { event: 'paused', answer: {} };
  }
}

function isDue(feed: Feed, version: string): boolean {
  const ageMs = performance.now() - feed.sentAtMs;
  if (!feed.isOpen() || (!feed.isPaused && ageMs < MIN_INTERVAL_MS)) return false;
  return feed.version !== version || ageMs > REFRESH_MS;
}
