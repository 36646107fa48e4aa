import type { Redis } from 'ioredis';

/** One server's subscription to a channel, which comes back by itself. */
export type ChannelLink = {
  /** Whether all that this server had published before the call has been passed on. */
  prove: () => Promise<boolean>;
  close: () => void;
};

/**
 * Subscribes on a connection of its own. Redis delivers a connection's messages and replies in order, so the
 * reply to a PING proves that every message published on that server before it has arrived.
 */
export function openChannelLink(options: {
  subscriber: Redis;
  channel: string;
  onMessage: (message: string) => void;
  onBegun: () => void;
  /** What is published from now on is lost. */
  onEnded: (error: unknown) => void;
}): ChannelLink {
  const { subscriber, channel, onMessage, onBegun, onEnded } = options;
  // A subscription that comes back by itself would come without a word.
  subscriber.options.autoResubscribe = false;
  let subscribed = false;
  let closed = false;
  let lastError: unknown;

  async function subscribe(): Promise<void> {
    try {
      await subscriber.subscribe(channel);
    } catch (error) {
      tryAgain(error);
      return;
    }
    if (closed) return;
    subscribed = true;
    onBegun();
  }

  function tryAgain(error: unknown): void {
    if (closed) return;
    lastError = error;
    subscriber.disconnect(true);
  }

  subscriber.on('error', (error) => (lastError = error));
  subscriber.on('ready', () => void subscribe());
  subscriber.on('close', () => {
    subscribed = false;
    if (!closed) onEnded(lastError);
  });
  subscriber.on('message', (_channel, message) => {
    onMessage(message);
  });
  return {
    prove: async () => {
      if (!subscribed) return false;
      try {
        await subscriber.ping();
        return true;
      } catch (error) {
        // No answer in time: the connection may be dead without the system knowing.
        subscribed = false;
        tryAgain(error);
        return false;
      }
    },
    close: () => {
      closed = true;
      subscriber.disconnect();
    },
  };
}
