import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { addressesQuery } from '../../api/addresses.ts';
import { allApplicationsQuery } from '../../api/applications.ts';
import { temporaryTokenQuery } from '../../api/temporary-token.ts';
import { curlSample } from '../../code-samples/languages/curl.ts';
import type { Operation } from '../../code-samples/languages/operation.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { CopyLine } from '../../ui/secret/secret-line.tsx';
import { ErrorMessage } from '../../ui/page/states.tsx';
import page from '../../ui/page/page.module.css';
import styles from './overview.module.css';

/** Every GraphQL API answers this. */
const OPERATION: Operation = {
  query: '{ __typename }',
  operationName: null,
  variables: undefined,
  isSubscription: false,
};

/** The way to the first call, whose arrival is seen live. */
export function FirstCall({ hasArrived }: { hasArrived: boolean }) {
  const queryClient = useQueryClient();
  const { data: addresses } = useQuery(addressesQuery);
  const { data: applications } = useQuery(allApplicationsQuery);
  const [isCopied, setCopied] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const hasApplication = (applications?.length ?? 0) > 0;
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
            <p>
              The command has a temporary token of yours. It is copied, not shown.{' '}
              <CopyButton
                what="curl command"
                text={async () => {
                  const { access_token: token } = await queryClient.query(temporaryTokenQuery);
                  setError(null);
                  return curlSample({
                    dataUrl: addresses.dataUrl,
                    operation: OPERATION,
                    credential: { kind: 'token', token },
                  });
                }}
                onCopied={() => {
                  setCopied(true);
                }}
                onError={setError}
              >
                Copy curl command
              </CopyButton>
            </p>
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
