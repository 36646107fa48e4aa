import type { RequestHandler } from 'express';
import { signedIn } from '../../identity/sessions/require-session.ts';
import { FEED_HEADERS } from './feed.ts';
import type { LiveFeeds } from './feeds.ts';

/**
 * `GET /api/console/usage/live`: 200, server-sent events while the session lasts (ADR 0057). `pace` has the response
 * of `GET /api/console/usage/pace`, at once and after each change, at most about twice a second; `no_billing_period`
 * takes its place where that would be 404. `paused`: Postgres is unavailable; figures follow when it is back.
 * `session_ended` is the last event of a session that has ended. 401; 429 `too_many_requests` with Retry-After; 503.
 */
export function liveUsageEndpoint(feeds: Pick<LiveFeeds, 'open'>): RequestHandler {
  return (req, res) => {
    const { account_id, session } = signedIn(res);
    if (req.method === 'HEAD') res.set(FEED_HEADERS).end();
    else feeds.open({ account_id, session_id: session.session_id }, res);
  };
}
