import { useQueryClient } from '@tanstack/react-query';
import { useRouter, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { setCsrfToken } from '../api/client.ts';
import { sessionQuery } from '../api/queries.ts';
import { SignInForm } from './sign-in-form.tsx';
import styles from './sign-in.module.css';

/** `/user/sign-in?next=…`: signs in and returns to the page that was requested. */
export function SignInPage() {
  const { next } = useSearch({ from: '/sign-in' });
  const queryClient = useQueryClient();
  const router = useRouter();
  useEffect(() => {
    document.title = 'Sign in · Tollgate';
  }, []);
  return (
    <main className={styles['page']}>
      <div className={styles['card']}>
        <h1>Sign in to Tollgate</h1>
        <SignInForm
          onSignedIn={(session) => {
            setCsrfToken(session.csrf_token);
            queryClient.clear();
            queryClient.setQueryData(sessionQuery.queryKey, session);
            router.history.push(pagePath(next));
          }}
        />
      </div>
    </main>
  );
}

/** `next` is a path below /user, so that a link to the sign-in can't lead anywhere else afterwards. */
function pagePath(next: string | undefined): string {
  return next?.startsWith('/') === true ? `/user${next === '/' ? '' : next}` : '/user';
}
