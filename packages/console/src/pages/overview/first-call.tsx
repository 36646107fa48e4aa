import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { addressesQuery } from '../../api/addresses.ts';
import { allApplicationsQuery } from '../../api/applications.ts';
import { temporaryTokenQuery } from '../../api/temporary-token.ts';
import { useFirstCall } from '../../code-samples/first-call.ts';
import { curlSample } from '../../code-samples/languages/curl.ts';
import { CodeBlock } from '../../ui/secret/code-block.tsx';
import { CopyLine, SecretLine } from '../../ui/secret/secret-line.tsx';
import { ErrorMessage } from '../../ui/page/states.tsx';
import page from '../../ui/page/page.module.css';
import styles from './overview.module.css';

/** The way to the first call, whose arrival is seen live. */
export function FirstCall({ hasArrived }: { hasArrived: boolean }) {
  const queryClient = useQueryClient();
  const { data: addresses } = useQuery(addressesQuery);
  const { data: applications } = useQuery(allApplicationsQuery);
  const [isCopied, setCopied] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const operation = useFirstCall();
  const hasApplication = (applications?.length ?? 0) > 0;
  const curl = (token: string, dataUrl: string) =>
    curlSample({ dataUrl, operation, credential: { kind: 'token', token } });
  async function fetchToken(): Promise<string> {
    const { access_token } = await queryClient.query(temporaryTokenQuery);
    setError(null);
    return access_token;
  }
  return (
    <section className={page['card']} aria-labelledby="first-call">
      <h2 id="first-call">Make your first call</h2>
      {addresses !== undefined && <CopyLine label="Endpoint" text={addresses.dataUrl} what="endpoint" />}
      <ol className={styles['steps']}>
        <li data-done={hasApplication}>
          <strong>{hasApplication ? 'You have an application' : 'Create an application'}</strong>
          <p>
            Your programs call the API with its credentials.{' '}
            <Link to="/api_v2/applications">
              {hasApplication ? 'Go to Applications' : 'Create an application'}
            </Link>
          </p>
        </li>
        <li data-done={isCopied || hasArrived}>
          <strong>Call the API from a terminal</strong>
          {addresses !== undefined && (
            <div className={styles['command']}>
              <p>The copied command contains your temporary token.</p>
              <CodeBlock
                what="curl command"
                shown={curl('<temporary token>', addresses.dataUrl)}
                copied={async () => curl(await fetchToken(), addresses.dataUrl)}
                onCopied={() => {
                  setCopied(true);
                }}
                onError={setError}
              />
              <SecretLine
                label="Temporary token"
                what="temporary token"
                text={fetchToken}
                onError={setError}
              />
            </div>
          )}
          {error !== null && <ErrorMessage error={error} />}
          <p>
            Or <Link to="/explorer">run a query in the Explorer</Link>.
          </p>
        </li>
        <li data-done={hasArrived}>
          <strong>See it arrive</strong>
          <p role="status">
            {hasArrived
              ? 'Your first call has arrived.'
              : 'Waiting for your first call. It appears here at once.'}
          </p>
        </li>
      </ol>
    </section>
  );
}
