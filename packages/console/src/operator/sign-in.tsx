import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { brand } from '../api/brand.ts';
import { EntryPage } from '../pages/entry/entry-page.tsx';
import { Button } from '../ui/button.tsx';
import { ErrorMessage, Skeleton } from '../ui/page/states.tsx';
import type { OperatorSession } from './api/client.ts';
import {
  enrol,
  goToProvider,
  signInByAnswer,
  signInByLink,
  signInByPasskey,
  waysQuery,
} from './api/session.ts';
import type { AnswerInAddress, LinkInAddress } from './api/session.ts';

type SignInProps = {
  link: LinkInAddress | null;
  /** Of the identity provider, which has led here. */
  answer: AnswerInAddress | null;
  onSignedIn: (session: OperatorSession) => void;
  /** Goes on without the link or the answer. */
  onGiveUp: () => void;
};

/** Before the operators' console: the identity provider, a passkey, or what has to be set up first. */
export function OperatorSignIn(props: SignInProps) {
  const ways = useQuery(waysQuery);
  return (
    <EntryPage title={`${brand.name} operators`}>
      {ways.isPending && <Skeleton rows={2} />}
      {ways.isError && <ErrorMessage error={ways.error} onRetry={() => void ways.refetch()} isAlone />}
      {ways.data !== undefined && <Ways ways={ways.data} {...props} />}
    </EntryPage>
  );
}

type Ways = {
  passkeys: { origin: string } | null;
  oidc: { issuer: string } | null;
  missing: 'operators_url' | 'operators_local' | 'operator' | null;
};

function Ways({ ways, link, answer, onSignedIn, onGiveUp }: SignInProps & { ways: Ways }) {
  if (ways.missing === 'operators_url') {
    return (
      <p>
        Signing in is off. Set <code>OPERATORS_URL</code> to the address of this page, and restart account.
      </p>
    );
  }
  if (ways.missing === 'operators_local') {
    return (
      <p>
        Signing in is off: <code>OPERATORS_LOCAL</code> is <code>false</code>. Set it to <code>true</code>,
        and restart account.
      </p>
    );
  }
  if (answer !== null) return <ByAnswer answer={answer} onSignedIn={onSignedIn} onGiveUp={onGiveUp} />;
  if (link !== null) {
    return <ByLink key={link.token} link={link} onSignedIn={onSignedIn} onGiveUp={onGiveUp} />;
  }
  if (ways.oidc !== null) return <ByProvider oidc={ways.oidc} ways={ways} onSignedIn={onSignedIn} />;
  if (ways.missing === 'operator') {
    return (
      <>
        <p>There are no operators yet. Create the first one with a credential of the installation:</p>
        <p>
          <code>tollgate operators create --role admin --name … --email …</code>
        </p>
      </>
    );
  }
  return <ByPasskey passkeys={ways.passkeys} variant="primary" onSignedIn={onSignedIn} />;
}

type ByPasskeyProps = Pick<Ways, 'passkeys'> &
  Pick<SignInProps, 'onSignedIn'> & { variant: 'primary' | 'secondary' };

function ByPasskey({ passkeys, variant, onSignedIn }: ByPasskeyProps) {
  if (passkeys === null) {
    return <p>Passkeys cannot be used at this address. They need a domain name and TLS, or localhost.</p>;
  }
  if (passkeys.origin !== location.origin) {
    const url = `${passkeys.origin}/operator/`;
    return (
      <p>
        Passkeys work at another address: <a href={url}>{url}</a>
      </p>
    );
  }
  return (
    <Attempt label="Sign in with a passkey" variant={variant} act={signInByPasskey} onSuccess={onSignedIn} />
  );
}

/** Who has a passkey can go past it. */
function ByProvider({
  oidc: { issuer },
  ways: { passkeys },
  onSignedIn,
}: Pick<SignInProps, 'onSignedIn'> & { oidc: { issuer: string }; ways: Pick<Ways, 'passkeys'> }) {
  return (
    <>
      <Attempt
        label={`Sign in with ${new URL(issuer).host}`}
        act={goToProvider}
        onSuccess={() => undefined}
      />
      {passkeys !== null && (
        <>
          <p>
            If the identity provider is down, an operator who has a passkey can sign in without it. All admins
            are told by mail.
          </p>
          <ByPasskey passkeys={passkeys} variant="secondary" onSignedIn={onSignedIn} />
        </>
      )}
    </>
  );
}

/** The answer of the identity provider is sent once, without anything to press. */
function ByAnswer({
  answer,
  onSignedIn,
  onGiveUp,
}: Pick<SignInProps, 'onSignedIn' | 'onGiveUp'> & { answer: AnswerInAddress }) {
  const { parameters, silent } = answer;
  const { mutate, error } = useMutation({
    mutationFn: signInByAnswer,
    onSuccess: onSignedIn,
    ...(silent ? { onError: onGiveUp } : {}),
  });
  const sent = useRef(false);
  useEffect(() => {
    if (sent.current) return;
    sent.current = true;
    mutate(parameters);
  }, [mutate, parameters]);
  if (error === null || silent) return <Skeleton rows={2} />;
  return (
    <>
      <ErrorMessage error={error} />
      <Button variant="primary" onPress={onGiveUp}>
        Back to the sign-in
      </Button>
    </>
  );
}

function ByLink({
  link: { purpose, token },
  onSignedIn,
  onGiveUp,
}: Pick<SignInProps, 'onSignedIn' | 'onGiveUp'> & { link: LinkInAddress }) {
  return (
    <>
      <p>
        {purpose === 'enrol'
          ? 'Create a passkey on this device. From then on you sign in with it.'
          : 'This link signs you in once.'}
      </p>
      <Attempt
        label={purpose === 'enrol' ? 'Create a passkey' : 'Sign in'}
        act={() => (purpose === 'enrol' ? enrol(token) : signInByLink(token))}
        onSuccess={onSignedIn}
      />
      <p>
        <Button variant="quiet" onPress={onGiveUp}>
          Continue without this link
        </Button>
      </p>
    </>
  );
}

type AttemptProps<Result> = {
  label: string;
  variant?: 'primary' | 'secondary';
  act: () => Promise<Result>;
  onSuccess: (result: Result) => void;
};

function Attempt<Result>({ label, variant = 'primary', act, onSuccess }: AttemptProps<Result>) {
  const attempt = useMutation({ mutationFn: act, onSuccess });
  return (
    <>
      {attempt.isError && <ErrorMessage error={attempt.error} />}
      <Button
        variant={variant}
        isPending={attempt.isPending}
        onPress={() => {
          attempt.mutate();
        }}
      >
        {label}
      </Button>
    </>
  );
}
