import { useState } from 'react';
import { api, resultOf } from '../../api/client.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Moment } from '../../ui/moment.tsx';
import { ErrorMessage } from '../../ui/page/states.tsx';
import styles from '../../ui/page/page.module.css';

/** The account's own token, for trying things out. It is fetched only when it is copied. */
export function TemporaryToken() {
  const [expiresAt, setExpiresAt] = useState<string | null>(null);
  const [error, setError] = useState<unknown>(null);
  async function fetchToken(): Promise<string> {
    const { access_token, expires_at } = await resultOf(api.POST('/api/console/temporary-token'));
    setExpiresAt(expires_at);
    setError(null);
    return access_token;
  }
  return (
    <section className={styles['card']} aria-labelledby="temporary-token">
      <div className={styles['header']}>
        <h2 id="temporary-token">Temporary token</h2>
        <CopyButton what="temporary token" text={fetchToken} onError={setError} />
      </div>
      <p>
        Use it to try the API. It changes every 12 hours: do not use it in production.{' '}
        {expiresAt !== null && (
          <>
            This one expires <Moment at={expiresAt} />.
          </>
        )}
      </p>
      {error !== null && <ErrorMessage error={error} />}
    </section>
  );
}
