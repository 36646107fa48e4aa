import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, resultOf } from '../../api/client.ts';
import { Countdown } from '../../ui/secret/countdown.tsx';
import { SecretLine } from '../../ui/secret/secret-line.tsx';
import styles from '../../ui/page/page.module.css';
import { ErrorMessage } from '../../ui/page/states.tsx';
import { temporaryTokenExpiryQuery } from './queries.ts';

/** The account's own token, for trying things out. It is fetched only when it is copied or shown. */
export function TemporaryToken() {
  const queryClient = useQueryClient();
  const expiry = useQuery(temporaryTokenExpiryQuery);
  const [copyError, setCopyError] = useState<unknown>(null);
  async function fetchToken(): Promise<string> {
    const { access_token, expires_at } = await resultOf(api.POST('/api/console/temporary-token'));
    queryClient.setQueryData(temporaryTokenExpiryQuery.queryKey, expires_at);
    setCopyError(null);
    return access_token;
  }
  const error = copyError ?? expiry.error;
  return (
    <section className={styles['card']} aria-labelledby="temporary-token">
      <h2 id="temporary-token">Temporary token</h2>
      <SecretLine label="Access token" what="temporary token" text={fetchToken} onError={setCopyError} />
      <p>
        Use it to try the API without an application. <strong>Do not use it in production</strong>: it changes
        every 12 hours.{' '}
        {typeof expiry.data === 'string' && (
          <>
            This one changes in <Countdown until={expiry.data} onEnd={() => void expiry.refetch()} />.
          </>
        )}
      </p>
      {error !== null && <ErrorMessage error={error} />}
    </section>
  );
}
