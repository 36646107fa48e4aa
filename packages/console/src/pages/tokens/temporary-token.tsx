import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, resultOf } from '../../api/client.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Countdown } from '../../ui/secret/countdown.tsx';
import styles from '../../ui/page/page.module.css';
import { ErrorMessage } from '../../ui/page/states.tsx';
import { temporaryTokenExpiryQuery } from './queries.ts';

/** The account's own token, for trying things out. It is fetched only when it is copied. */
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
      <div className={styles['header']}>
        <h2 id="temporary-token">Temporary token</h2>
        <CopyButton what="temporary token" text={fetchToken} onError={setCopyError} />
      </div>
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
