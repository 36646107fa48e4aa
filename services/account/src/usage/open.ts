import type { SessionLifetimes } from '../identity/sessions/session-store.ts';
import { createQuery } from '../platform/database/query.ts';
import type { Query } from '../platform/database/query.ts';
import type { Platform } from '../platform/open.ts';
import { startLiveFeeds } from './live/feeds.ts';
import type { LiveFeeds } from './live/feeds.ts';

/** Usage as people and programs see it. */
export function openUsage(
  { pools, logger, registry }: Pick<Platform, 'pools' | 'logger' | 'registry'>,
  { lifetimes }: { lifetimes: SessionLifetimes },
): { needs: { usageQuery: Query; liveFeeds: LiveFeeds } } {
  return {
    needs: {
      usageQuery: createQuery(pools.usageViews),
      liveFeeds: startLiveFeeds({ query: createQuery(pools.liveUsage), lifetimes, logger, registry }),
    },
  };
}
