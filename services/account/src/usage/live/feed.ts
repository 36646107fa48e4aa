import { createHash } from 'node:crypto';
import type { Response } from 'express';
import { endWithCaller } from '@tollgate/http/end-with-caller';

export type FeedEvent = 'pace' | 'no_billing_period' | 'paused' | 'session_ended';

export type FeedOwner = { account_id: number; session_id: number };

export type Feed = FeedOwner & {
  openedAtMs: number;
  /** What the browser shows; undefined before the first event and after `paused`. */
  version: string | undefined;
  sentAtMs: number;
  isPaused: boolean;
  isOpen: () => boolean;
  send: (event: FeedEvent, content: object, version?: string) => void;
  beat: () => void;
  end: () => void;
};

/** `no-transform` and the header of nginx keep proxies from compressing or buffering events. */
export const FEED_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
} as const;

/** Beyond this, a reader is too slow: it gets the current state when it reconnects. */
const MAX_BUFFERED_BYTES = 64 * 1024;

/** Spread, so that all tabs of a replica that ends don't reconnect at once. */
const RETRY_MS = { min: 1_000, spread: 2_000 };

/** One open response of server-sent events (HTML, section 9.2). */
export function openFeed(owner: FeedOwner, res: Response, onSlow: () => void): Feed {
  const write = (text: string) => {
    if (!isOpen()) return;
    res.write(text);
    if (res.writableLength <= MAX_BUFFERED_BYTES) return;
    onSlow();
    res.destroy();
  };
  const isOpen = () => !res.destroyed && !res.writableEnded;
  const feed: Feed = {
    ...owner,
    openedAtMs: performance.now(),
    version: undefined,
    sentAtMs: -Infinity,
    isPaused: false,
    isOpen,
    send: (event, content, version) => {
      feed.version = version;
      feed.sentAtMs = performance.now();
      feed.isPaused = event === 'paused';
      const id = version === undefined ? '' : `id: ${idOf(version)}\n`;
      write(`event: ${event}\n${id}data: ${JSON.stringify(content)}\n\n`);
    },
    beat: () => {
      write(': heartbeat\n\n');
    },
    end: () => {
      if (isOpen()) res.end();
    },
  };
  res.writeHead(200, FEED_HEADERS);
  const retryMs = RETRY_MS.min + Math.floor(Math.random() * RETRY_MS.spread);
  endWithCaller(res);
  write(`retry: ${String(retryMs)}\n\n`);
  return feed;
}

/** The same on every replica. */
function idOf(version: string): string {
  return createHash('sha256').update(version).digest('base64url').slice(0, 16);
}
