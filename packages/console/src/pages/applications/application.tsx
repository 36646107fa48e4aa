import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { ApiError, api, resultOf } from '../../api/client.ts';
import type { Application } from '../../api/client.ts';
import { applicationQuery } from './queries.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Form } from '../../ui/form/form.tsx';
import { Moment } from '../../ui/moment.tsx';
import { Badge, Empty, ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import { TextField } from '../../ui/form/text-field.tsx';
import { EndApplication } from './end-application.tsx';
import { PageHeader } from '../../ui/page/page-header.tsx';
import { TokenList } from './token-list.tsx';
import styles from '../../ui/page/page.module.css';

/** `/user/api_v2/applications/<application_id>`: settings and manually created access tokens. */
export function ApplicationPage() {
  const { applicationId } = useParams({ from: '/signed-in/api_v2/applications/$applicationId' });
  const { data, isPending, error, refetch } = useQuery(applicationQuery(applicationId));
  if (isPending) return <Skeleton rows={6} />;
  if (data === undefined) {
    const isGone = error instanceof ApiError && error.problem?.status === 404;
    if (!isGone) return <ErrorMessage error={error} onRetry={() => void refetch()} />;
    return (
      <Empty title="There is no such application">
        <p>It may have been deleted in another tab.</p>
      </Empty>
    );
  }
  return (
    <>
      <ApplicationSettings application={data} />
      <TokenList application={data} />
    </>
  );
}

function ApplicationSettings({ application }: { application: Application }) {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const { application_id, name, client_id, status, token_lifespan_label, created_at } = application;
  return (
    <>
      <PageHeader title={name}>
        <EndApplication
          application={application}
          onDeleted={() => void navigate({ to: '/api_v2/applications' })}
        />
      </PageHeader>
      <section className={styles['card']} aria-label="Settings">
        <dl className={styles['facts']}>
          <dt>Status</dt>
          <dd>
            {status === 'active' ? <Badge tone="good">Active</Badge> : <Badge tone="neutral">Revoked</Badge>}
          </dd>
          <dt>Client ID</dt>
          <dd>
            <code>{client_id}</code> <CopyButton what="client ID" text={client_id} />
          </dd>
          <dt>Token lifespan</dt>
          <dd>{token_lifespan_label}</dd>
          <dt>Created</dt>
          <dd>
            <Moment at={created_at} />
          </dd>
        </dl>
        <Form
          submitLabel="Rename"
          onSubmit={(values) =>
            resultOf(
              api.PATCH('/api/console/applications/{application_id}', {
                params: { path: { application_id } },
                body: { name: values['name'] ?? '' },
              }),
            )
          }
          onDone={() => void queryClient.invalidateQueries({ queryKey: ['applications'] })}
        >
          {(errors) => (
            <TextField
              label="Name"
              name="name"
              autoComplete="off"
              defaultValue={name}
              error={errors['name']}
            />
          )}
        </Form>
      </section>
    </>
  );
}
