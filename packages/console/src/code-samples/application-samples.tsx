import { useQuery } from '@tanstack/react-query';
import { Suspense } from 'react';
import { addressesQuery } from '../api/addresses.ts';
import type { Application } from '../api/client.ts';
import { useFirstCall } from './first-call.ts';
import type { Credential } from './languages/operation.ts';
import { lazyPart } from '../ui/part/lazy-part.ts';

/** Loaded after what the page is opened for. */
const CodeSamples = lazyPart(async () => (await import('./code-samples.tsx')).CodeSamples);

/** How a program calls the API with an application, by its type; secrets are placeholders. */
export function ApplicationSamples({ application }: { application: Application }) {
  const { data } = useQuery(addressesQuery);
  const operation = useFirstCall();
  if (data === undefined) return null;
  const { type, client_id } = application;
  const isAutomatic = type === 'automatic';
  const credential: Credential = isAutomatic
    ? { kind: 'client', clientId: client_id, clientSecret: '<CLIENT_SECRET>', tokenUrl: data.tokenUrl }
    : { kind: 'token', token: '<ACCESS_TOKEN>' };
  return (
    <Suspense fallback={null}>
      <CodeSamples dataUrl={data.dataUrl} operation={operation} credential={credential}>
        <p>
          {isAutomatic
            ? 'The program gets a token with the client ID and secret, then calls the API. Replace <CLIENT_SECRET>.'
            : 'Replace <ACCESS_TOKEN> with a token that you generated below.'}{' '}
          Keep secrets out of public code, and read them from the environment in production.
        </p>
      </CodeSamples>
    </Suspense>
  );
}
