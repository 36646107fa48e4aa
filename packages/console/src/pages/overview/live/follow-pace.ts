import { noteContact } from '../../../api/connection.ts';
import type { Pace } from '../queries.ts';

/**
 * `live`: the feed sends every change. `polling`: it can't be opened, or is about to be. `paused`: it is open, and
 * Tollgate has no figures for now. `ended`: the session is over.
 */
export type FeedMode = 'live' | 'polling' | 'paused' | 'ended';

type Follower = { onPace: (pace: Pace | null) => void; onMode: (mode: FeedMode) => void };

const FEED_URL = '/api/console/usage/live';

/** Waits longer after each refusal; a connection that breaks is opened again by the browser itself. */
const RETRY_MS = { first: 2_000, max: 30_000 };

/** Figures are sent again every 30 s: a feed that is silent for longer is dead, though the browser may not know it. */
const SILENCE_MAX_MS = 45_000;

/**
 * Follows the pace while the tab is visible and online: a browser has few connections to a host. Returns what stops
 * it.
 */
export function followPace({ onPace, onMode }: Follower): () => void {
  let source: EventSource | null = null;
  /** Opens the feed again, after a refusal or a silence. */
  let timer: ReturnType<typeof setTimeout> | undefined;
  let retryMs = RETRY_MS.first;

  function close() {
    clearTimeout(timer);
    source?.close();
    source = null;
  }

  function open() {
    close();
    onMode('polling');
    if (document.hidden || !navigator.onLine) return;
    const opened = new EventSource(FEED_URL);
    source = opened;
    const on = (event: string, listener: (data: string) => void) => {
      opened.addEventListener(event, ({ data }: MessageEvent<string>) => {
        clearTimeout(timer);
        retryMs = RETRY_MS.first;
        listener(data);
      });
    };
    const onFigures = (pace: Pace | null) => {
      timer = setTimeout(open, SILENCE_MAX_MS);
      noteContact();
      onMode('live');
      onPace(pace);
    };
    on('pace', (data) => {
      onFigures(JSON.parse(data) as Pace);
    });
    on('no_billing_period', () => {
      onFigures(null);
    });
    on('paused', () => {
      onMode('paused');
    });
    on('session_ended', () => {
      close();
      onMode('ended');
    });
    opened.addEventListener('error', () => {
      clearTimeout(timer);
      onMode('polling');
      if (opened.readyState !== EventSource.CLOSED) return;
      timer = setTimeout(open, retryMs);
      retryMs = Math.min(retryMs * 2, RETRY_MS.max);
    });
  }

  document.addEventListener('visibilitychange', open);
  window.addEventListener('online', open);
  window.addEventListener('offline', open);
  open();
  return () => {
    document.removeEventListener('visibilitychange', open);
    window.removeEventListener('online', open);
    window.removeEventListener('offline', open);
    close();
  };
}
