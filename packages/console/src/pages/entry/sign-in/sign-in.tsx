import { useQueryClient } from '@tanstack/react-query';
import { Link, useRouter, useSearch } from '@tanstack/react-router';
import { setCsrfToken } from '../../../api/client.ts';
import { sessionQuery } from '../../../api/session.ts';
import { brand } from '../../../api/brand.ts';
import { EntryPage } from '../entry-page.tsx';
import { nextPage } from './next-page.ts';
import { SignInForm } from '../sign-in-form.tsx';

/** `/user/sign-in?next=…`: signs in and returns to the page that was requested. */
export function SignInPage() {
  const { next } = useSearch({ from: '/sign-in' });
  const queryClient = useQueryClient();
  const router = useRouter();
  return (
    <EntryPage title={`Sign in to ${brand.name}`}>
      <SignInForm
        onSignedIn={(session) => {
          setCsrfToken(session.csrf_token);
          queryClient.clear();
          queryClient.setQueryData(sessionQuery.queryKey, session);
          router.history.push(nextPage(next));
        }}
      />
      <p>
        <Link to="/sso" search={next === undefined ? {} : { next }}>
          Sign in with single sign-on
        </Link>
      </p>
      <p>
        <Link to="/forgot-password">Forgot your password?</Link>
      </p>
      <p>
        New to {brand.name}? <Link to="/sign-up">Create an account</Link>
      </p>
    </EntryPage>
  );
}
