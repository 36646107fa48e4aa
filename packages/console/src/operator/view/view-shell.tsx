import { useMutation, useQuery } from '@tanstack/react-query';
import { Outlet } from '@tanstack/react-router';
import { Suspense } from 'react';
import { ConnectionBar } from '../../shell/connection-bar.tsx';
import { Navigation } from '../../shell/navigation.tsx';
import { ThemeSwitch } from '../../shell/theme-switch.tsx';
import { Side } from '../../shell/side.tsx';
import shell from '../../shell/shell.module.css';
import { usePageChange } from '../../shell/use-page-change.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorMessage } from '../../ui/page/states.tsx';
import { Countdown } from '../../ui/secret/countdown.tsx';
import { endView, viewQuery } from '../api/view.ts';
import styles from './view.module.css';

/** The frame of a customer's pages in a view: what says so is always in sight, and nothing signs out. */
export function ViewShell() {
  const { content, isMenuOpen, setMenuOpen } = usePageChange();
  return (
    <div className={shell['shell']}>
      <Side isMenuOpen={isMenuOpen} setMenuOpen={setMenuOpen}>
        <Navigation />
        <div className={shell['foot']}>
          <ThemeSwitch />
        </div>
      </Side>
      <div>
        <Banner />
        <main id="content" ref={content} tabIndex={-1} className={shell['content']}>
          <Suspense>
            <Outlet />
          </Suspense>
        </main>
      </div>
      <ConnectionBar />
    </div>
  );
}

function Banner() {
  const { data: view, refetch } = useQuery(viewQuery);
  const end = useMutation({
    mutationFn: endView,
    onSuccess: () => {
      location.assign(view === undefined ? '/operator/' : `/operator/accounts/${String(view.account_id)}`);
    },
  });
  if (view === undefined) return null;
  const { name, email, expires_at } = view;
  return (
    <section aria-label="View as a customer" className={styles['banner']}>
      <p>
        <strong>
          You view as <bdi>{name}</bdi> (<bdi>{email}</bdi>).
        </strong>{' '}
        Nothing can be changed. The view ends in <Countdown until={expires_at} onEnd={() => void refetch()} />
        .
      </p>
      <Button
        isReading
        isPending={end.isPending}
        onPress={() => {
          end.mutate();
        }}
      >
        Stop viewing
      </Button>
      {end.isError && <ErrorMessage error={end.error} />}
    </section>
  );
}
