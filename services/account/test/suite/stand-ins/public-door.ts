import { freePort } from '@tollgate/stack/ports';
import { startSampleUpstream } from '@tollgate/testbed/sample-upstream';
import { becomeReady, startServiceProcess } from '@tollgate/testbed/service-process';
import { startAccount } from '../account-under-test.ts';
import type { AccountUnderTest } from '../account-under-test.ts';
import { operatorCredentials } from '../operator.ts';

/** All three services and the sample upstream behind the gateway. */
export type PublicDoor = { suite: AccountUnderTest; url: string; close: () => Promise<void> };

/** A suite with a single address would soon reach the limits. */
const UNLIMITED = String(1_000_000);

export async function openPublicDoor(): Promise<PublicDoor> {
  const port = String(await freePort());
  const url = `http://127.0.0.1:${port}`;
  const [suite, upstream] = await Promise.all([
    startAccount({
      settings: {
        PUBLIC_URL: url,
        OPERATOR_CREDENTIALS: operatorCredentials,
        SELF_SERVICE: 'subscribe change cancel slots',
        SIGN_IN_FAILURES_PER_ADDRESS: UNLIMITED,
        MAIL_REQUESTS_PER_ADDRESS: UNLIMITED,
        MAIL_REQUESTS_PER_RECIPIENT: UNLIMITED,
        PASSWORD_HASH_QUEUE_MAX: '1000',
      },
      authSettings: { ISSUER_URL: url, FAILED_ATTEMPTS_PER_ADDRESS: UNLIMITED, REGISTRATION: 'open' },
    }),
    startSampleUpstream(),
  ]);
  const { account, auth, settings } = suite;
  const gateway = await startServiceProcess('gateway', {
    PUBLIC_PORT: port,
    STREAMING_URL: url,
    REDIS_URL: settings['REDIS_URL'] ?? '',
    AUTH_PRIVATE_URL: auth.privateUrl,
    AUTH_PUBLIC_URL: auth.publicUrl,
    ACCOUNT_PRIVATE_URL: account.privateUrl,
    ACCOUNT_PUBLIC_URL: account.publicUrl,
    UPSTREAM_URL: upstream.url,
    UPSTREAM_V1_URL: upstream.url,
    GRAPHQL_SCHEMA: 'introspect',
    GRAPHQL_V1_SCHEMA: 'introspect',
    UPSTREAM_WS_URL: upstream.url.replace('http:', 'ws:'),
  });
  await becomeReady(gateway);
  return {
    suite,
    url,
    close: async () => {
      await gateway.stop();
      await Promise.all([suite.close(), upstream.stop()]);
    },
  };
}
