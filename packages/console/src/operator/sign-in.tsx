import { useMutation, useQuery } from '@tanstack/react-query';
import { brand } from '../api/brand.ts';
import { EntryPage } from '../pages/entry/entry-page.tsx';
import { Button } from '../ui/button.tsx';
import { ErrorMessage, Skeleton } from '../ui/page/states.tsx';
import type { OperatorSession } from './api/client.ts';
import { enrol, signInByLink, signInByPasskey, waysQuery } from './api/session.ts';
import type { LinkInAddress } from './api/session.ts';

type SignInProps = {
  link: LinkInAddress | null;
  onSignedIn: (session: OperatorSession) => void;
  /** Goes on without the link. */
  onGiveUp: () => void;
};

/** Before the operators' console: a passkey, or what has to be set up first. */
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
  missing: 'operators_url' | 'operators_local' | 'operator' | null;
};

function Ways({ ways, link, onSignedIn, onGiveUp }: SignInProps & { ways: Ways }) {
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
  if (link !== null) {
    return <ByLink key={link.token} link={link} onSignedIn={onSignedIn} onGiveUp={onGiveUp} />;
  }
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
  if (ways.passkeys === null) {
    return <p>Passkeys cannot be used at this address. They need a domain name and TLS, or localhost.</p>;
  }
  if (ways.passkeys.origin !== location.origin) {
    const url = `${ways.passkeys.origin}/operator/`;
    return (
      <p>
        Passkeys work at another address: <a href={url}>{url}</a>
      </p>
    );
  }
  return <Attempt label="Sign in with a passkey" act={signInByPasskey} onSignedIn={onSignedIn} />;
}

function ByLink({ link: { purpose, token }, onSignedIn, onGiveUp }: SignInProps & { link: LinkInAddress }) {
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
        onSignedIn={onSignedIn}
      />
      <p>
        <Button variant="quiet" onPress={onGiveUp}>
          Continue without this link
        </Button>
      </p>
    </>
  );
}

type AttemptProps = {
  label: string;
  act: () => Promise<OperatorSession>;
  onSignedIn: (session: OperatorSession) => void;
};

function Attempt({ label, act, onSignedIn }: AttemptProps) {
  const attempt = useMutation({ mutationFn: act, onSuccess: onSignedIn });
  return (
    <>
      {attempt.isError && <ErrorMessage error={attempt.error} />}
      <Button
        variant="primary"
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
