import { useMutation } from '@tanstack/react-query';
import { useEffect } from 'react';
import { brand } from '../api/brand.ts';
import { ThemeSwitch } from '../shell/theme-switch.tsx';
import shell from '../shell/shell.module.css';
import { Button } from '../ui/button.tsx';
import { ErrorMessage } from '../ui/page/states.tsx';
import type { OperatorSession } from './api/client.ts';
import { checkRole, signOut } from './api/session.ts';
import { OperatorLink, useAddress } from './location.tsx';
import { pageAt, PAGES } from './pages.tsx';

type ShellProps = { session: OperatorSession; onSignedOut: () => void };

/** The frame of every page behind the sign-in. */
export function OperatorShell({ session, onSignedOut }: ShellProps) {
  const address = useAddress();
  useEffect(() => {
    checkRole(session);
  }, [address, session]);
  const leave = useMutation({
    mutationFn: signOut,
    onSuccess: (next) => {
      if (next === null) onSignedOut();
      else location.assign(next);
    },
  });
  return (
    <div className={shell['shell']}>
      <a href="#content" className={shell['skip']}>
        Skip to content
      </a>
      <header className={shell['side']}>
        <div className={shell['top']}>
          <OperatorLink to="/" className={shell['brand']}>
            <img src={brand.logo} alt="" className={shell['logo']} />
            {brand.name} operators
          </OperatorLink>
        </div>
        <div className={shell['panel']} data-open="true">
          <nav aria-label="Pages" className={shell['nav']}>
            <div>
              {PAGES.map(({ path, label }) => {
                const isCurrent = address.split('?')[0] === path;
                return (
                  <OperatorLink
                    key={path}
                    to={path}
                    className={shell['link']}
                    data-status={isCurrent ? 'active' : undefined}
                    aria-current={isCurrent ? 'page' : undefined}
                  >
                    {label}
                  </OperatorLink>
                );
              })}
            </div>
          </nav>
          <div className={shell['foot']}>
            <nav aria-label="Help" className={shell['help']}>
              <a href="/operator/docs" target="_blank" rel="noreferrer" className={shell['helpLink']}>
                Docs
              </a>
            </nav>
            <div className={shell['account']}>
              <span className={shell['email']}>
                <bdi>{session.name}</bdi> ({session.role})
              </span>
              <ThemeSwitch />
              <Button
                variant="quiet"
                isPending={leave.isPending}
                onPress={() => {
                  leave.mutate();
                }}
              >
                Sign out
              </Button>
              {leave.isError && <ErrorMessage error={leave.error} isChange />}
            </div>
          </div>
        </div>
      </header>
      <main id="content" tabIndex={-1} className={shell['content']}>
        {pageAt(address, session)}
      </main>
    </div>
  );
}
