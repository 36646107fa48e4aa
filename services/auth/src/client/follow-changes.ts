import { createSingleFlight } from '@tollgate/cache/single-flight';
import { REVOCATION_CHANNEL, revocationSchema } from '@tollgate/contracts/revocation';
import type { Revocation } from '@tollgate/contracts/revocation';
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
    const revocation = readMessage(message);
    // The auth that published a change has applied it.
    if (revocation?.source !== 'account') return;
    try {
      const { client_id, revocation_epoch = 0 } = revocation;
      if (client_id !== undefined) await clients.change(client_id, revocation_epoch, changeOf(revocation));
    } catch (error) {
      logger.debug({ err: error }, 'a published change of a client could not be applied');
    }
  }

  const onMessage = (message: string) => void singleFlight(message, () => apply(message));
  return followChannels({
    ...redis,
    channels: [{ channel: REVOCATION_CHANNEL, onMessage, cache: null }],
    logger,
  });
}

function changeOf(revocation: Revocation) {
  if (revocation.kind === 'token') return { change: 'token' as const, token_hash: revocation.token_hash };
  return revocation.revocation_epoch === undefined ? null : { change: 'application' as const };
}

function readMessage(message: string): Revocation | undefined {
  try {
    return revocationSchema.safeParse(JSON.parse(message)).data;
  } catch {
    return undefined;
  }
}
