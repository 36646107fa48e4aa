import type { Response } from 'express';
import type { Registry } from 'prom-client';
import { Problem } from '@tollgate/http/problem';
import type { Logger } from '@tollgate/log';
import { startWorkLoop } from '../../platform/background/work-loop.ts';
import { openFeed } from './feed.ts';
import type { Feed, FeedOwner } from './feed.ts';
import { createFeedMetrics } from './feed-metrics.ts';
import { pauseFeeds, pollFeeds } from './poll-feeds.ts';
import type { PollOptions } from './poll-feeds.ts';

/** In each process. A browser opens one for each visible tab. */
export const FEED_LIMITS = { perSession: 4, perAccount: 20, total: 1_000 } as const;

/** Less than the time after which proxies take a connection for dead. */
const HEARTBEAT_MS = 10_000;

const RETRY_AFTER_SEC = 10;

export type LiveFeeds = {
  /** Takes over the response. @throws {Problem} too_many_requests; service_unavailable */
  open: (owner: FeedOwner, res: Response) => void;
  /** Ends all feeds; their browsers reconnect. */
  drain: () => void;
  close: () => Promise<void>;
};

type FeedOptions = Pick<PollOptions, 'query' | 'lifetimes'> & {
  logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  registry: Registry;
};

/**
 * The live feeds of this process (docs/design/counting.md). One poll, twice a second while a feed is open, finds those
 * whose figures have changed, whichever replica has counted, and those whose session has ended.
 */
export function startLiveFeeds({ query, lifetimes, logger, registry }: FeedOptions): LiveFeeds {
  const feeds = new Set<Feed>();
  const metrics = createFeedMetrics(registry, () => feeds.size);
  const polling: PollOptions = { query, lifetimes, logger, metrics };
  let isDraining = false;

  const loop = startWorkLoop({
    work: async () => {
      try {
        await pollFeeds(polling, [...feeds]);
      } catch (error) {
        pauseFeeds(polling, feeds);
        throw error;
      }
    },
    messages: { failed: 'live usage is paused', recovered: 'live usage is shown again' },
    isNeeded: () => feeds.size > 0,
    logger,
  });
  const heart = setInterval(() => {
    for (const feed of feeds) feed.beat();
  }, HEARTBEAT_MS);
  heart.unref();

  const drain = () => {
    isDraining = true;
    for (const feed of feeds) feed.end();
  };
  return {
    open: (owner, res) => {
      if (isDraining) throw new Problem('service_unavailable');
      refuseExcess([...feeds], owner);
      const feed = openFeed(owner, res, () => {
        metrics.slow.inc();
      });
      feeds.add(feed);
      res.once('close', () => {
        feeds.delete(feed);
      });
      loop.wake();
    },
    drain,
    close: async () => {
      drain();
      clearInterval(heart);
      await loop.close();
    },
  };
}

function refuseExcess(open: readonly Feed[], { account_id, session_id }: FeedOwner): void {
  if (open.length >= FEED_LIMITS.total) throw new Problem('service_unavailable');
  const ofSession = open.filter((feed) => feed.session_id === session_id).length;
  const ofAccount = open.filter((feed) => feed.account_id === account_id).length;
  if (ofSession < FEED_LIMITS.perSession && ofAccount < FEED_LIMITS.perAccount) return;
  throw new Problem('too_many_requests', {
    detail: 'Too many live feeds are open. Close some, or use GET /api/console/usage/pace.',
    headers: { 'retry-after': String(RETRY_AFTER_SEC) },
  });
}
