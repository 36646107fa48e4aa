import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import styles from '../../../ui/page/page.module.css';
import { twoFactorQuery } from '../queries.ts';

const STORAGE_KEY = 'tollgate-two-factor-later';

/** For an account that a password alone opens, until it is set up or put off in this browser. */
export function TwoFactorNudge() {
  const { data } = useQuery(twoFactorQuery);
  const [isPutOff, setPutOff] = useState(() => localStorage.getItem(STORAGE_KEY) !== null);
  if (data?.enabled !== false || isPutOff) return null;
  return (
    <section className={styles['card']} aria-labelledby="two-factor-nudge">
      <h2 id="two-factor-nudge">Protect your account</h2>
      <p>
        Your password alone opens this account and its credentials. Add an authenticator app or a passkey.
      </p>
      <div className={styles['actions']}>
        <Link to="/account/security">Set up two-factor authentication</Link>
        <Button
          variant="quiet"
          onPress={() => {
            localStorage.setItem(STORAGE_KEY, '1');
            setPutOff(true);
          }}
        >
          Not now
        </Button>
      </div>
    </section>
  );
}
