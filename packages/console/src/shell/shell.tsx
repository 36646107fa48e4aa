import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useNavigate } from '@tanstack/react-router';
import { api, resultOf, setCsrfToken } from '../api/client.ts';
import { sessionQuery } from '../api/queries.ts';
import { Button } from '../ui/button.tsx';
import { SessionExpired } from './session-expired.tsx';
import { ThemeSwitch } from './theme-switch.tsx';
import styles from './shell.module.css';

/** The frame of every page behind the sign-in: navigation, account, and signing in again in place. */
export function Shell() {
  const { data: session } = useQuery(sessionQuery);
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  async function signOut() {
    await resultOf(api.DELETE('/api/console/session'));
    setCsrfToken(null);
    queryClient.clear();
    await navigate({ to: '/sign-in', search: {} });
  }
  return (
    <div className={styles['shell']}>
      <a href="#content" className={styles['skip']}>
        Skip to content
      </a>
      <header className={styles['header']}>
        <Link to="/" className={styles['brand'] ?? ''}>
          Tollgate
        </Link>
        <nav aria-label="Pages" className={styles['nav']}>
          <Link to="/" activeOptions={{ exact: true }} className={styles['link'] ?? ''}>
            Overview
          </Link>
          <Link to="/api_v2/applications" className={styles['link'] ?? ''}>
            Applications
          </Link>
          <Link to="/api_v2/access_tokens" className={styles['link'] ?? ''}>
            Tokens
          </Link>
        </nav>
        <div className={styles['account']}>
          <span className={styles['email']}>{session?.email}</span>
          <ThemeSwitch />
          <Button variant="quiet" onPress={() => void signOut()}>
            Sign out
          </Button>
        </div>
      </header>
      <main id="content" tabIndex={-1} className={styles['content']}>
        <Outlet />
      </main>
      <SessionExpired email={session?.email ?? ''} />
    </div>
  );
}
