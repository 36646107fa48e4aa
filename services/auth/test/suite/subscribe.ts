import { mastersOf } from '@tollgate/redis';
import type { AuthUnderTest } from './auth-under-test.ts';

/** Only messages that name a client or a token's hash: a cluster's bus may still deliver those of earlier tests. */
export async function subscribe(
  { store }: Pick<AuthUnderTest, 'store'>,
  { channel, naming }: { channel: string; naming: string },
  onMessage: (message: string) => void,
): Promise<{ close: () => void }> {
  const subscriber = mastersOf(store)[0]?.duplicate({ lazyConnect: true });
  if (subscriber === undefined) throw new Error('the store is not connected');
  await subscriber.connect();
  subscriber.on('message', (_channel, message) => {
    if (message.includes(naming)) onMessage(message);
  });
  await subscriber.subscribe(channel);
  return {
    close: () => {
      subscriber.disconnect();
    },
  };
}
