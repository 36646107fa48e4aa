import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Badge, ErrorMessage, Skeleton } from '../../../ui/page/states.tsx';
import { ConfirmationProvider } from '../confirmation.tsx';
import { twoFactorQuery } from '../queries.ts';
import { Section } from '../section.tsx';
import { AuthenticatorApp } from './authenticator-app.tsx';
import { Passkeys } from './passkeys.tsx';
import { RecoveryCodes, ShownCodes } from './recovery-codes.tsx';

/** What is needed after the password: an authenticator app or a passkey; recovery codes in case both are lost. */
export function TwoFactor() {
  const { data, isPending, error, refetch } = useQuery(twoFactorQuery);
  const queryClient = useQueryClient();
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  function changed(newCodes: readonly string[] | null = null) {
    if (newCodes !== null) setCodes(newCodes);
    void queryClient.invalidateQueries({ queryKey: twoFactorQuery.queryKey });
  }
  const status = data && (data.enabled ? <Badge tone="good">On</Badge> : <Badge tone="neutral">Off</Badge>);
  return (
    <Section title="Two-factor authentication" status={status}>
      <p>
        With a second factor, your password alone is not enough to sign in: you also need a code from an
        authenticator app, or a passkey.
      </p>
      {isPending && <Skeleton />}
      {data === undefined && error !== null && (
        <ErrorMessage error={error} what="your second factors" onRetry={() => void refetch()} />
      )}
      {data !== undefined && (
        <ConfirmationProvider>
          <AuthenticatorApp factors={data} onChanged={changed} />
          <Passkeys factors={data} onChanged={changed} />
          {data.enabled && <RecoveryCodes left={data.recovery_codes_left} onChanged={changed} />}
        </ConfirmationProvider>
      )}
      {codes !== null && (
        <ShownCodes
          codes={codes}
          onClose={() => {
            setCodes(null);
          }}
        />
      )}
    </Section>
  );
}
