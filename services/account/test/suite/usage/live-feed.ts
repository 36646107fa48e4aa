import { waitFor } from '@tollgate/stack/wait-for';
import type { Browser } from '../people.ts';

export type FeedEvent = { event: string; id: string | undefined; data: Record<string, unknown> };

/** A live feed as a browser reads it. */
export type LiveFeed = {
  status: number;
  headers: Headers;
  events: readonly FeedEvent[];
  comments: readonly string[];
  retryMs: number | undefined;
  /** Whether the stream has ended, by whomever: `whole` with the end of its answer, `cut` with its connection. */
  ended: () => 'whole' | 'cut' | undefined;
  /** The next event that passes the test, after the one that was returned last. */
  next: (matches?: (event: FeedEvent) => boolean) => Promise<FeedEvent>;
  close: () => void;
};

export async function openLiveFeed(url: string, browser: Pick<Browser, 'cookie'>): Promise<LiveFeed> {
  const stopping = new AbortController();
  const response = await fetch(`${url}/api/console/usage/live`, {
    headers: { cookie: browser.cookie ?? '', accept: 'text/event-stream' },
    signal: stopping.signal,
  });
  const events: FeedEvent[] = [];
  const comments: string[] = [];
  let end: 'whole' | 'cut' | undefined;
  let read = 0;
  const feed: LiveFeed = {
    status: response.status,
    headers: response.headers,
    events,
    comments,
    retryMs: undefined,
    ended: () => end,
    next: async (matches = () => true) => {
      const at = await waitFor(
        () => {
          const found = events.findIndex((event, index) => index >= read && matches(event));
          return found === -1 ? null : { found };
        },
        { what: `an event after ${JSON.stringify(events.slice(read))}` },
      );
      read = at.found + 1;
      return events[at.found] as FeedEvent;
    },
    close: () => {
      stopping.abort();
    },
  };

  function take(block: string): void {
    const fields = block.split('\n').map((line) => {
      const at = line.indexOf(':');
      return [line.slice(0, at), line.slice(at + 2)] as const;
    });
    const field = (name: string) => fields.find(([key]) => key === name)?.[1];
    const comment = field('');
    const event = field('event');
    if (comment !== undefined) comments.push(comment);
    if (field('retry') !== undefined) feed.retryMs = Number(field('retry'));
    if (event === undefined) return;
    events.push({ event, id: field('id'), data: JSON.parse(field('data') ?? '{}') as FeedEvent['data'] });
  }

  async function readAll(): Promise<void> {
    let rest = '';
    try {
      for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        const blocks = `${rest}${text}`.split('\n\n');
        rest = blocks.pop() ?? '';
        blocks.forEach(take);
      }
      end = 'whole';
    } catch {
      end = 'cut';
    }
  }

  void readAll();
  return feed;
}
