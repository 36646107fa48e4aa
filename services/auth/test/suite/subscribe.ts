import { mastersOf } from '@tollgate/redis';
import type { AuthUnderTest } from './auth-under-test.ts';

/** The suite's own subscription to a channel, on any one server: messages, in order, as long as it is open. */
export async function subscribe(
  { store }: Pick<AuthUnderTest, 'store'>,
  channel: string,
  onMessage: (message: string) => void,
): Promise<{ close: () => void }> {
  const subscriber = mastersOf(store)[0]?.duplicate({ lazyConnect: true });
  if (subscriber === undefined) throw new Error('the store is not connected');
  await subscriber.connect();
  subscriber.on('message', (_channel, message) => {
    onMessage(message);
  });
  await subscriber.subscribe(channel);
  return {
    close: () => {
      subscriber.disconnect();
    },
  };
}
