import { useState } from 'react';
import type { ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { LanguageTabs } from '../ui/language-tabs.tsx';
import { ErrorMessage } from '../ui/page/states.tsx';
import page from '../ui/page/page.module.css';
import { HideAfterAbsence } from './hide-after-absence.tsx';
import { LANGUAGES } from './samples.ts';
import type { Credential, Operation } from './languages/operation.ts';
import styles from './code-samples.module.css';

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
  const shown = shownToken === null ? credential : withToken(shownToken);
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
      <LanguageTabs languages={LANGUAGES}>
        {({ label, note, subscriptionNote, sample }) => (
          <>
            <div className={styles['note']}>
              <p className={page['muted']}>
                {note}
                {operation.isSubscription && ` ${subscriptionNote}`}
              </p>
              <CopyButton
                what={`${label} sample`}
                text={async () =>
                  sample({
                    dataUrl,
                    operation,
                    credential: token === undefined ? credential : withToken(await token()),
                  })
                }
                onError={setError}
              />
            </div>
            <pre className={styles['code']} tabIndex={0} aria-label={`${label} sample`} role="region">
              <code>{sample({ dataUrl, operation, credential: shown })}</code>
            </pre>
          </>
        )}
      </LanguageTabs>
    </section>
  );
}
