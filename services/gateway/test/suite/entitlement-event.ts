import { ENTITLEMENT_CHANNEL } from '@tollgate/contracts/entitlement';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';

/** As account tells gateways that an entitlement has changed. */
export async function publishEntitlementEvent(redisUrl: string, message: string): Promise<void> {
  const redis = openRedis(redisUrl, createLogger('suite', 'silent'));
  await waitFor(() => redis.status === 'ready');
  await redis.publish(ENTITLEMENT_CHANNEL, message);
  redis.disconnect();
}
