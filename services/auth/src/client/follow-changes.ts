import { createSingleFlight } from '@tollgate/cache/single-flight';
import { CLIENT_CHANGE_CHANNEL, clientChangeSchema } from '@tollgate/contracts/client-change';
import type { ClientChange } from '@tollgate/contracts/client-change';
import type { Logger } from '@tollgate/log';
import { followChannels } from '@tollgate/redis/follow-channels';
import type { ClientDirectory } from './directory.ts';

/** A fallback for when account can't reach auth: account also sends changes by HTTP and repeats both. */
export function followChanges(
  options: Pick<Parameters<typeof followChannels>[0], 'url' | 'tls' | 'alongside'> & {
    clients: Pick<ClientDirectory, 'change'>;
    logger: Logger;
  },
): { close: () => void } {
  const { clients, logger, ...redis } = options;
  /** A change is published on every master of a Redis Cluster; applying it once is enough. */
  const singleFlight = createSingleFlight<string, unknown>();

  async function apply(message: string): Promise<void> {
    const change = readMessage(message);
    // The auth that published a change has applied it.
    if (change?.source !== 'account') return;
    try {
      await clients.change(change);
    } catch (error) {
      logger.debug({ err: error }, 'a published change of a client could not be applied');
    }
  }

  const onMessage = (message: string) => void singleFlight(message, () => apply(message));
  return followChannels({
    ...redis,
    channels: [{ channel: CLIENT_CHANGE_CHANNEL, onMessage, cache: null }],
    logger,
  });
}

function readMessage(message: string): ClientChange | undefined {
  try {
    return clientChangeSchema.safeParse(JSON.parse(message)).data;
  } catch {
    return undefined;
  }
}
