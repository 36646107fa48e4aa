import type { Redis } from 'ioredis';

export type ChannelLink = {
  /** Whether all messages that the server published before the call have been passed on. */
  prove: () => Promise<boolean>;
  /** Subscribes on a new connection, which may lead to another server. */
  reconnect: () => void;
  close: () => void;
};

/** Redis delivers messages and replies in order, so a PING's reply proves that earlier messages have arrived. */
export function openChannelLink(options: {
  subscriber: Redis;
  /** By channel. */
  onMessages: ReadonlyMap<string, (message: string) => void>;
  onBegun: () => void;
  onEnded: (error: unknown) => void;
}): ChannelLink {
  const { subscriber, onMessages, onBegun, onEnded } = options;
  // ioredis wouldn't tell that it has subscribed again.
  subscriber.options.autoResubscribe = false;
  let subscribed = false;
  let closed = false;
  let lastError: unknown;

  async function subscribe(): Promise<void> {
    try {
      await subscriber.subscribe(...onMessages.keys());
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
  subscriber.on('message', (channel, message) => {
    onMessages.get(channel)?.(message);
  });
  return {
    prove: async () => {
      if (!subscribed) return false;
      try {
        await subscriber.ping();
        return true;
      } catch (error) {
        // The connection may be dead without the system knowing.
        subscribed = false;
        tryAgain(error);
        return false;
      }
    },
    reconnect: () => {
      subscribed = false;
      tryAgain(lastError);
    },
    close: () => {
      closed = true;
      subscriber.disconnect();
    },
  };
}
