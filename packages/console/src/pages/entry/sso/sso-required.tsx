import { useMutation } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { useEffect } from 'react';
import { goToSso } from '../../../api/sso.ts';
import { Button } from '../../../ui/button.tsx';
import { PageHeader } from '../../../ui/page/page-header.tsx';
import pageStyles from '../../../ui/page/page.module.css';
import { ErrorMessage } from '../../../ui/page/states.tsx';

/** In place of every page for a member who has signed in otherwise, and whose team wants single sign-on. */
export function SsoRequired({ email }: { email: string }) {
  const { href: next } = useLocation();
  useEffect(() => {
    document.getElementById('content')?.focus();
  }, []);
  const going = useMutation({ mutationFn: () => goToSso(email, next) });
  return (
    <>
      <PageHeader title="Your team requires single sign-on" />
      <section className={pageStyles['card']} aria-label="Single sign-on">
        <p>
          Sign in with the account that you have at your company. Your applications and tokens keep working.
        </p>
        <p className={pageStyles['muted']}>
          If that fails, ask the manager of your team, who can sign in without it.
        </p>
        {going.isError && <ErrorMessage error={going.error} />}
        <div className={pageStyles['actions']}>
          <Button
            variant="primary"
            isPending={going.isPending || going.isSuccess}
            onPress={() => {
              going.mutate();
            }}
          >
            Sign in with single sign-on
          </Button>
        </div>
      </section>
    </>
  );
}
