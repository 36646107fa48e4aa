import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { addressesQuery } from '../../api/addresses.ts';
import { allApplicationsQuery } from '../../api/applications.ts';
import type { Application } from '../../api/client.ts';
import { sessionQuery } from '../../api/session.ts';
import { temporaryTokenQuery } from '../../api/temporary-token.ts';
import { useFirstCall } from '../../code-samples/first-call.ts';
import type { Credential } from '../../code-samples/languages/operation.ts';
import { Button } from '../../ui/button.tsx';
import { lazyPart } from '../../ui/part/lazy-part.ts';
import { CopyLine, SecretLine } from '../../ui/secret/secret-line.tsx';
import { ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import type { CreatedApplication } from '../applications/new-application.tsx';
import page from '../../ui/page/page.module.css';
import styles from './overview.module.css';

const SampleTabs = lazyPart(async () => (await import('../../code-samples/sample-tabs.tsx')).SampleTabs);

const NewApplication = lazyPart(
  async () => (await import('../applications/new-application.tsx')).NewApplication,
);

const hiddenKey = (accountId: number) => `tollgate-first-call-hidden:${String(accountId)}`;

/** The way to the first call, whose arrival is seen live, until it is hidden in this browser. */
export function FirstCall({ hasArrived }: { hasArrived: boolean }) {
  const { data: session } = useQuery(sessionQuery);
  const { data: applications } = useQuery(allApplicationsQuery);
  const [isHidden, setHidden] = useState(false);
  // Its secret is in memory only: after a reload, samples have a placeholder.
  const [created, setCreated] = useState<CreatedApplication | null>(null);
  const [isCopied, setCopied] = useState(false);
  const isViewer = session?.member_role === 'viewer';
  if (!session || isViewer || isHidden || localStorage.getItem(hiddenKey(session.account_id)) !== null)
    return null;
  const application = [...(created === null ? [] : [created]), ...(applications ?? [])].find(
    ({ status, type }) => status === 'active' && type === 'automatic',
  );
  const secret = created !== null && application === created ? created.client_secret : null;
  return (
    <section className={page['card']} aria-labelledby="first-call">
      <div className={page['header']}>
        <h2 id="first-call">Make your first call</h2>
        <Button
          variant="quiet"
          onPress={() => {
            localStorage.setItem(hiddenKey(session.account_id), '1');
            setHidden(true);
          }}
        >
          Hide this guide
        </Button>
      </div>
      <ol className={styles['steps']}>
        <li data-done={application !== undefined}>
          <CreateStep application={application} onCreated={setCreated} />
        </li>
        <li data-done={isCopied || hasArrived}>
          <CallStep
            application={application}
            secret={secret}
            onCopied={() => {
              setCopied(true);
            }}
          />
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

type CreateStepProps = {
  application: Application | undefined;
  onCreated: (application: CreatedApplication) => void;
};

function CreateStep({ application, onCreated }: CreateStepProps) {
  const [isCreating, setCreating] = useState(false);
  return (
    <>
      <strong>{application === undefined ? 'Create an application' : 'You have an application'}</strong>
      {application === undefined ? (
        <div className={styles['command']}>
          <p>Your program calls the API with its credentials.</p>
          <div>
            <Button
              variant="primary"
              onPress={() => {
                setCreating(true);
              }}
            >
              Create an application
            </Button>
          </div>
        </div>
      ) : (
        <p>
          <Link
            to="/api_v2/applications/$applicationId"
            params={{ applicationId: application.application_id }}
          >
            <bdi>{application.name}</bdi>
          </Link>
        </p>
      )}
      <Suspense>
        <NewApplication
          isOpen={isCreating}
          onClose={() => {
            setCreating(false);
          }}
          onCreated={onCreated}
        />
      </Suspense>
    </>
  );
}

type CallStepProps = {
  application: Application | undefined;
  /** The application's secret, while this page knows it. */
  secret: string | null;
  onCopied: () => void;
};

/** With the application's own client ID; without one, the temporary token makes the call. */
function CallStep({ application, secret, onCopied }: CallStepProps) {
  const queryClient = useQueryClient();
  const { data: addresses } = useQuery(addressesQuery);
  const operation = useFirstCall();
  const [error, setError] = useState<unknown>(null);
  const clientId = application?.client_id;
  async function fetchToken(): Promise<string> {
    const { access_token } = await queryClient.query(temporaryTokenQuery);
    setError(null);
    return access_token;
  }
  function credentialOf(tokenUrl: string, clientSecret = '<CLIENT_SECRET>'): Credential | undefined {
    return clientId === undefined ? undefined : { kind: 'client', clientId, clientSecret, tokenUrl };
  }
  return (
    <>
      <strong>Call the API</strong>
      {addresses !== undefined && (
        <div className={styles['command']}>
          <CopyLine label="Endpoint" text={addresses.dataUrl} what="endpoint" />
          <p>{explanationOf(clientId, secret)}</p>
          <Suspense fallback={<Skeleton rows={6} />}>
            <SampleTabs
              dataUrl={addresses.dataUrl}
              operation={operation}
              shown={credentialOf(addresses.tokenUrl) ?? { kind: 'token', token: '<TEMPORARY_TOKEN>' }}
              copied={async () =>
                credentialOf(addresses.tokenUrl, secret ?? undefined) ?? {
                  kind: 'token',
                  token: await fetchToken(),
                }
              }
              onCopied={onCopied}
              onError={setError}
            />
          </Suspense>
          {clientId === undefined && (
            <SecretLine label="Temporary token" what="temporary token" text={fetchToken} onError={setError} />
          )}
        </div>
      )}
      {error !== null && <ErrorMessage error={error} />}
      <p>
        Or <Link to="/explorer">run a query in the Explorer</Link>.
      </p>
    </>
  );
}

function explanationOf(clientId: string | undefined, secret: string | null): string {
  if (clientId === undefined) return 'A copied sample contains your temporary token.';
  return secret === null
    ? 'Replace <CLIENT_SECRET> with the client secret that you saved.'
    : 'A copied sample contains the client secret, until you leave this page.';
}
