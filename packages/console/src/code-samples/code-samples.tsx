import { useState } from 'react';
import type { ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { ErrorMessage } from '../ui/page/states.tsx';
import page from '../ui/page/page.module.css';
import { HideAfterAbsence } from './hide-after-absence.tsx';
import { SampleTabs } from './sample-tabs.tsx';
import type { Credential, Operation } from './languages/operation.ts';

type CodeSamplesProps = {
  dataUrl: string;
  operation: Operation;
  /** With placeholders for what is secret. */
  credential: Credential;
  /** Gets the token that is copied, and shown on request; without it, samples are copied with placeholders. */
  token?: () => Promise<string>;
  /** What to know before using a sample. */
  children: ReactNode;
};

/** Working code for an operation in each language. Copying fetches the token without showing it. */
export function CodeSamples({ dataUrl, operation, credential, token, children }: CodeSamplesProps) {
  const [shownToken, setShownToken] = useState<string | null>(null);
  const [error, setError] = useState<unknown>(null);
  const hide = () => {
    setShownToken(null);
  };
  async function show(fetchToken: () => Promise<string>) {
    try {
      setShownToken(await fetchToken());
      setError(null);
    } catch (failure) {
      setError(failure);
    }
  }
  const withToken = (text: string): Credential => ({ kind: 'token', token: text });
  return (
    <section aria-labelledby="code-samples" className={page['card']}>
      <div className={page['header']}>
        <h2 id="code-samples">Code samples</h2>
        {token !== undefined && (
          <Button onPress={shownToken === null ? () => void show(token) : hide}>
            {shownToken === null ? 'Show token' : 'Hide token'}
          </Button>
        )}
      </div>
      {shownToken !== null && <HideAfterAbsence onHide={hide} />}
      {children}
      {error !== null && <ErrorMessage error={error} />}
      <SampleTabs
        dataUrl={dataUrl}
        operation={operation}
        shown={shownToken === null ? credential : withToken(shownToken)}
        copied={async () => (token === undefined ? credential : withToken(await token()))}
        onError={setError}
      />
    </section>
  );
}
