import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useParams, useRouter } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { arrivedAnswer } from '../../../api/arrived-answer.ts';
import { ApiError, hasStatus, setCsrfToken } from '../../../api/client.ts';
import type { Session } from '../../../api/client.ts';
import { sessionQuery } from '../../../api/session.ts';
import { goToSso, nextAfterSso, signInBySso } from '../../../api/sso.ts';
import type { TestedSso } from '../../../api/sso.ts';
import pageStyles from '../../../ui/page/page.module.css';
import { ErrorMessage, Skeleton } from '../../../ui/page/states.tsx';
import { EntryPage } from '../entry-page.tsx';
import { nextPage } from '../sign-in/next-page.ts';
import { SignInForm } from '../sign-in-form.tsx';

/** `/user/sso/<team>`: where an identity provider leads back to. Its answer is sent once, without anything to press. */
export function SsoAnswerPage() {
  const { teamId } = useParams({ from: '/sso/$teamId' });
  const queryClient = useQueryClient();
  const router = useRouter();
  const { mutate, data, error } = useMutation({
    mutationFn: () => signInBySso(teamId),
    onSuccess: (result) => {
      if (!('session_id' in result)) return;
      setCsrfToken(result.csrf_token);
      queryClient.clear();
      queryClient.setQueryData(sessionQuery.queryKey, result);
      router.history.push(nextPage(nextAfterSso()));
    },
  });
  const sent = useRef(false);
  useEffect(() => {
    if (sent.current || arrivedAnswer === '') return;
    sent.current = true;
    mutate();
  }, [mutate]);
  if (arrivedAnswer === '') return <Failed error={null} />;
  if (data !== undefined && !('session_id' in data)) return <Tested tested={data} />;
  const email = linkedAddressOf(error);
  if (email !== null) return <LinkAccount email={email} />;
  if (error !== null) return <Failed error={error} />;
  return (
    <EntryPage title="Signing in">
      <Skeleton rows={2} />
    </EntryPage>
  );
}

/** The address of the account to which single sign-on isn't linked yet. */
function linkedAddressOf(error: unknown): string | null {
  if (!(error instanceof ApiError) || error.problem?.code !== 'sso_link_required') return null;
  const { email } = error.problem as { email?: unknown };
  return typeof email === 'string' ? email : null;
}

function Failed({ error }: { error: unknown }) {
  return (
    <EntryPage title="You are not signed in">
      <Reason error={error} />
      <p>
        <Link to="/sso" search={{}}>
          Try single sign-on again
        </Link>
      </p>
      <p>
        <Link to="/sign-in" search={{}}>
          Sign in with a password or passkey
        </Link>
      </p>
    </EntryPage>
  );
}

/** A conflict is with the team or its plan, not with what this page shows. */
function Reason({ error }: { error: unknown }) {
  if (error === null) return <p role="alert">The sign-in was finished already, or has expired.</p>;
  if (hasStatus(error, 409)) return <p role="alert">{(error as ApiError).message}</p>;
  return <ErrorMessage error={error} />;
}

/** The owner signs in once; then the provider, which still knows them, is asked again. */
function LinkAccount({ email }: { email: string }) {
  const going = useMutation({ mutationFn: () => goToSso(email, nextAfterSso()) });
  return (
    <EntryPage title="Link your account">
      <p>
        <strong>{email}</strong> has an account already. Sign in to it once, and single sign-on is linked to
        it.
      </p>
      {going.error !== null && <ErrorMessage error={going.error} />}
      {going.isPending || going.isSuccess ? (
        <Skeleton rows={2} />
      ) : (
        <SignInForm
          email={email}
          onSignedIn={(session: Session) => {
            setCsrfToken(session.csrf_token);
            going.mutate();
          }}
        />
      )}
      <p>
        <Link to="/forgot-password">Forgot your password?</Link>
      </p>
    </EntryPage>
  );
}

function Tested({ tested: { subject, name, email, email_verified, domain_proven } }: { tested: TestedSso }) {
  return (
    <EntryPage title="The test has worked">
      <p>The answer of your identity provider was accepted. It holds:</p>
      <dl className={pageStyles['facts']}>
        <dt>Name</dt>
        <dd>{name === null ? 'Missing' : <bdi>{name}</bdi>}</dd>
        <dt>Email</dt>
        <dd>{email ?? 'Missing: no one can sign in without it'}</dd>
        <dt>Email verified</dt>
        <dd>{verifiedInWords(email_verified)}</dd>
        <dt>Domain</dt>
        <dd>{domain_proven ? 'Verified by your team' : 'Not verified by your team: refused'}</dd>
        <dt>Subject</dt>
        <dd>{subject}</dd>
      </dl>
      <p>
        <Link to="/team">Back to your team</Link>
      </p>
    </EntryPage>
  );
}

function verifiedInWords(verified: boolean | null): string {
  if (verified === true) return 'Yes';
  return verified === false
    ? 'No: refused'
    : 'Not stated: people who have no account yet are refused. Add the claim email_verified, or xms_edov in Entra ID';
}
