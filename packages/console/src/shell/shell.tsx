import { useIsFetching, useQuery } from '@tanstack/react-query';
import { Outlet } from '@tanstack/react-router';
import { Suspense, useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { sessionQuery } from '../api/session.ts';
import { useSignOut } from '../api/sign-out.ts';
import { Button } from '../ui/button.tsx';
import { ConnectionBar } from './connection-bar.tsx';
import { Help, Navigation } from './navigation.tsx';
import { Search } from './search.tsx';
import { Side } from './side.tsx';
import { ThemeSwitch } from './theme-switch.tsx';
import { useFormerAccount } from './use-former-account.ts';
import { useOtherTabs } from './use-other-tabs.ts';
import { usePageChange } from './use-page-change.ts';
import { useSessionEnd } from './use-session-end.ts';
import { lazyPart } from '../ui/part/lazy-part.ts';
import styles from './shell.module.css';

/** A page asks for more as soon as its first data are there. */
const QUIET_MS = 500;

const SessionExpired = lazyPart(async () => (await import('./session-expired.tsx')).SessionExpired);

const SessionReplaced = lazyPart(async () => (await import('./session-replaced.tsx')).SessionReplaced);

const DeletionPending = lazyPart(
  async () => (await import('../pages/account/deletion/deletion-pending.tsx')).DeletionPending,
);

const SsoRequired = lazyPart(async () => (await import('../pages/entry/sso/sso-required.tsx')).SsoRequired);

/** The frame of every page behind the sign-in: navigation, account, and signing in again in place. */
export function Shell() {
  const { data: session } = useQuery(sessionQuery);
  const deletionDueAt = session?.deletion_due_at ?? null;
  const lacksSso = session?.sso_required === true;
  const [isExpired, renew] = useSessionEnd(session?.session_id);
  const former = useFormerAccount(session);
  useOtherTabs();
  const { content, isMenuOpen, setMenuOpen } = usePageChange();
  return (
    <div className={styles['shell']}>
      <Side isMenuOpen={isMenuOpen} setMenuOpen={setMenuOpen}>
        <div className={styles['pages']}>
          {deletionDueAt === null && !lacksSso && (
            <>
              <Search />
              <Navigation />
            </>
          )}
        </div>
        <div className={styles['foot']}>
          <Help />
          <Account email={session?.email ?? ''} />
        </div>
      </Side>
      <main id="content" ref={content} tabIndex={-1} className={styles['content']}>
        <Suspense>
          {deletionDueAt !== null ? (
            <DeletionPending dueAt={deletionDueAt} />
          ) : lacksSso ? (
            <SsoRequired email={session.email} />
          ) : (
            <Outlet />
          )}
        </Suspense>
      </main>
      <ConnectionBar />
      <AfterFirstData isNeeded={isExpired || former !== null}>
        <SessionExpired email={session?.email ?? ''} isOpen={isExpired} onSignedIn={renew} />
        <SessionReplaced email={session?.email ?? ''} former={former} />
      </AfterFirstData>
    </div>
  );
}

/** Dialogs that load when the first page has its data, so that they don't delay it, or when they are needed. */
function AfterFirstData({ isNeeded, children }: { isNeeded: boolean; children: ReactNode }) {
  const isFetching = useIsFetching() > 0;
  const [isQuiet, setQuiet] = useState(false);
  useEffect(() => {
    if (isQuiet || isFetching) return;
    const timer = setTimeout(() => {
      setQuiet(true);
    }, QUIET_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [isQuiet, isFetching]);
  return isQuiet || isNeeded ? <Suspense>{children}</Suspense> : null;
}

function Account({ email }: { email: string }) {
  const signOut = useSignOut();
  return (
    <div className={styles['account']}>
      <span className={styles['email']}>{email}</span>
      <ThemeSwitch />
      <Button variant="quiet" onPress={() => void signOut()}>
        Sign out
      </Button>
    </div>
  );
}
