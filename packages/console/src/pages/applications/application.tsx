import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { Suspense } from 'react';
import { addressesQuery } from '../../api/addresses.ts';
import { hasStatus } from '../../api/client.ts';
import { Moment } from '../../ui/moment.tsx';
import { PageHeader } from '../../ui/page/page-header.tsx';
import { lazyPart } from '../../ui/part/lazy-part.ts';
import styles from '../../ui/page/page.module.css';
import { Badge, Empty, ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import { CopyLine } from '../../ui/secret/secret-line.tsx';
import { applicationQuery } from './queries.ts';
import type { ApplicationWithSecrets } from './queries.ts';
import { StatusBadge, TYPE_LABELS } from './status.tsx';

const ClientSecret = lazyPart(async () => (await import('./client-secret.tsx')).ClientSecret);

const ApplicationSettings = lazyPart(
  async () => (await import('./application-settings.tsx')).ApplicationSettings,
);

const ApplicationSamples = lazyPart(
  async () => (await import('../../code-samples/application-samples.tsx')).ApplicationSamples,
);

const ApplicationUsage = lazyPart(async () => (await import('./application-usage.tsx')).ApplicationUsage);

const TokenList = lazyPart(async () => (await import('./token-list.tsx')).TokenList);

const ApplicationBudget = lazyPart(async () => (await import('./application-budget.tsx')).ApplicationBudget);

const TrustedDocuments = lazyPart(async () => (await import('./trusted-documents.tsx')).TrustedDocuments);

const DangerZone = lazyPart(async () => (await import('./danger-zone.tsx')).DangerZone);

/** `/user/api_v2/applications/<application_id>`: how to call the API with it, its usage, tokens, budget, documents and settings. */
export function ApplicationPage() {
  const { applicationId } = useParams({ from: '/signed-in/api_v2/applications/$applicationId' });
  const { data, isPending, error, refetch } = useQuery(applicationQuery(applicationId));
  const navigate = useNavigate();
  if (hasStatus(error, 404)) return <NoSuchApplication />;
  if (isPending) return <Skeleton rows={6} />;
  if (data === undefined)
    return <ErrorMessage error={error} what="this application" onRetry={() => void refetch()} />;
  // Its tokens, usage and budgets are those of the people who connect it.
  const isDelegated = data.type === 'authorization';
  return (
    <>
      <PageHeader title={data.name} />
      <Access application={data} />
      <Suspense fallback={<Skeleton rows={8} />}>
        {!isDelegated && (
          <>
            <ApplicationSamples application={data} />
            <ApplicationUsage applicationId={applicationId} />
          </>
        )}
      </Suspense>
      <Suspense fallback={<Skeleton rows={8} />}>
        {!isDelegated && (
          <>
            <TokenList application={data} />
            <ApplicationBudget applicationId={applicationId} />
            <TrustedDocuments applicationId={applicationId} />
          </>
        )}
        <ApplicationSettings key={applicationId} application={data} />
        <DangerZone application={data} onDeleted={() => void navigate({ to: '/api_v2/applications' })} />
      </Suspense>
    </>
  );
}

function NoSuchApplication() {
  return (
    <>
      <PageHeader title="Application not found" />
      <Empty title="There is no such application">
        <p>
          It may have been deleted in another tab. <Link to="/api_v2/applications">All applications</Link>
        </p>
      </Empty>
    </>
  );
}

/** What a program needs to call the API, and what the application is. */
function Access({ application }: { application: ApplicationWithSecrets }) {
  const {
    status,
    type,
    client_id,
    token_lifespan_label,
    created_at,
    last_used_at,
    public_client,
    verified_at,
  } = application;
  const { data: addresses } = useQuery(addressesQuery);
  return (
    <section className={styles['card']} aria-labelledby="credentials">
      <h2 id="credentials">Credentials</h2>
      <CopyLine label="Endpoint" what="endpoint" text={addresses?.dataUrl ?? ''} />
      <CopyLine label="Client ID" what="client ID" text={client_id} />
      {!public_client && (
        <Suspense fallback={<Skeleton rows={2} />}>
          <ClientSecret application={application} />
        </Suspense>
      )}
      <dl className={styles['facts']}>
        <dt>Status</dt>
        <dd>
          <StatusBadge status={status} />
        </dd>
        <dt>Type</dt>
        <dd>
          {TYPE_LABELS[type]}
          {public_client && ', a public client without a client secret'}
        </dd>
        {type === 'authorization' && (
          <>
            <dt>Verification</dt>
            <dd>
              {verified_at === null ? (
                'Not verified: people read so before they connect it. Support can verify it.'
              ) : (
                <>
                  <Badge tone="good">Verified</Badge> A new name or redirect URI ends it.
                </>
              )}
            </dd>
          </>
        )}
        <dt>Token lifespan</dt>
        <dd>{token_lifespan_label}</dd>
        <dt>Created</dt>
        <dd>
          <Moment at={created_at} />
        </dd>
        {type !== 'authorization' && (
          <>
            <dt>Last used</dt>
            <dd>{last_used_at === null ? 'Never' : <Moment at={last_used_at} />}</dd>
          </>
        )}
      </dl>
    </section>
  );
}
