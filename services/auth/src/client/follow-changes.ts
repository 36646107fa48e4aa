import { REVOCATION_CHANNEL, revocationSchema } from '@tollgate/contracts/revocation';
import type { Revocation } from '@tollgate/contracts/revocation';
import type { Logger } from '@tollgate/log';
import { followChannel } from '@tollgate/redis/follow-channel';
import type { ClientDirectory } from './directory.ts';

/**
 * Takes over what account publishes of changed clients, so that auth knows of it where account can't reach it.
 * Nothing depends on it alone: account tells auth by HTTP as well, and repeats both until it is acknowledged.
 */
export function followChanges(options: {
  redisUrl: string;
  clients: Pick<ClientDirectory, 'change'>;
  logger: Logger;
}): { close: () => void } {
  const { redisUrl, clients, logger } = options;
  /** Every master of a Redis Cluster passes on what each has published: once is enough. */
  const underWay = new Set<string>();

  async function apply(message: string): Promise<void> {
    const revocation = readMessage(message);
    // What auths themselves say is done already.
    if (revocation?.source !== 'account' || underWay.has(message)) return;
    underWay.add(message);
    try {
      const { client_id, revocation_epoch = 0 } = revocation;
      if (client_id !== undefined) await clients.change(client_id, revocation_epoch, changeOf(revocation));
    } catch (error) {
      logger.debug({ err: error }, 'a published change of a client could not be taken over');
    } finally {
      underWay.delete(message);
    }
  }

  return followChannel({
    url: redisUrl,
    channel: REVOCATION_CHANNEL,
    onMessage: (message) => void apply(message),
    onDropAll: () => undefined,
    trustUntil: () => undefined,
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
