import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useId } from 'react';
import { api, resultOf } from '../../api/client.ts';
import { isViewing } from '../../api/viewing.ts';
import { Button } from '../../ui/button.tsx';
import fields from '../../ui/form/field.module.css';
import { formatNumber } from '../../ui/format.ts';
import { Table } from '../../ui/list/table.tsx';
import { Moment } from '../../ui/moment.tsx';
import page from '../../ui/page/page.module.css';
import { ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import { documentsIn } from './documents-in.ts';
import { trustedDocumentsQuery } from './queries.ts';
import type { TrustedDocumentList } from './queries.ts';

type Document = TrustedDocumentList['documents'][number];

/** The documents that the application can be limited to. */
export function TrustedDocuments({ applicationId }: { applicationId: number }) {
  const { data, isPending, error, refetch } = useQuery(trustedDocumentsQuery(applicationId));
  return (
    <section className={page['card']} aria-labelledby="trusted-documents">
      <h2 id="trusted-documents">Trusted documents</h2>
      <p className={page['muted']}>
        Limits this application to GraphQL documents that you register, so that a leaked token can run nothing
        else. Other documents are refused with status 400 and the code <code>document_not_trusted</code>.
      </p>
      {isPending && <Skeleton rows={3} />}
      {data === undefined && !isPending && (
        <ErrorMessage error={error} what="its documents" onRetry={() => void refetch()} />
      )}
      {data !== undefined && <Loaded list={data} />}
    </section>
  );
}

function Loaded({ list }: { list: TrustedDocumentList }) {
  const { documents } = list;
  return (
    <>
      <Limit list={list} />
      {documents.length > 0 && <Documents list={list} />}
      <Registration applicationId={list.application_id} />
    </>
  );
}

function Limit({ list: { application_id, enforced, documents } }: { list: TrustedDocumentList }) {
  const queryClient = useQueryClient();
  const changing = useMutation({
    mutationFn: () =>
      resultOf(
        api.PUT('/api/console/applications/{application_id}/trusted-documents', {
          params: { path: { application_id } },
          body: { enforced: !enforced },
        }),
      ),
    onSuccess: (changed) => {
      queryClient.setQueryData(trustedDocumentsQuery(application_id).queryKey, changed);
    },
  });
  return (
    <>
      <div className={page['header']}>
        <p role="status">
          {enforced ? <strong>Limited</strong> : 'Not limited'}: {countInWords(documents.length)} registered.
          {enforced && documents.length === 0 && ' The application can run nothing.'}
        </p>
        <Button
          isPending={changing.isPending}
          onPress={() => {
            changing.mutate();
          }}
        >
          {enforced ? 'End the limit' : 'Limit to these documents'}
        </Button>
      </div>
      {changing.isError && <ErrorMessage error={changing.error} isChange />}
    </>
  );
}

function countInWords(count: number): string {
  return count === 1 ? '1 document is' : `${formatNumber(count)} documents are`;
}

function Documents({ list: { application_id, documents } }: { list: TrustedDocumentList }) {
  const queryClient = useQueryClient();
  const removing = useMutation({
    mutationFn: ({ sha256, api_version }: Document) =>
      resultOf(
        api.DELETE('/api/console/applications/{application_id}/trusted-documents/{sha256}', {
          params: { path: { application_id, sha256 }, query: { api_version } },
        }),
      ),
    onSettled: () => queryClient.invalidateQueries(trustedDocumentsQuery(application_id)),
  });
  return (
    <>
      <Table
        label="Trusted documents"
        columns={[
          { label: 'Operation', cell: ({ name }) => name ?? 'Unnamed', onCard: 'title' },
          { label: 'ID', cell: ({ document_id }) => document_id ?? '–' },
          { label: 'SHA-256', cell: ({ sha256 }) => <code title={sha256}>{sha256.slice(0, 12)}…</code> },
          { label: 'Version', cell: ({ api_version }) => api_version },
          { label: 'Registered', cell: ({ registered_at }) => <Moment at={registered_at} /> },
        ]}
        rows={documents}
        keyOf={({ api_version, sha256 }) => `${api_version} ${sha256}`}
        actions={(document) => (
          <Button
            aria-label={`Remove ${document.name ?? document.sha256.slice(0, 12)}`}
            onPress={() => {
              removing.mutate(document);
            }}
          >
            Remove
          </Button>
        )}
      />
      {removing.isError && <ErrorMessage error={removing.error} isChange />}
    </>
  );
}

function Registration({ applicationId: application_id }: { applicationId: number }) {
  const id = useId();
  const queryClient = useQueryClient();
  const registering = useMutation({
    mutationFn: async (file: File) =>
      resultOf(
        api.POST('/api/console/applications/{application_id}/trusted-documents', {
          params: { path: { application_id } },
          body: { documents: documentsIn(await file.text()) },
        }),
      ),
    onSettled: () => queryClient.invalidateQueries(trustedDocumentsQuery(application_id)),
  });
  const { data } = registering;
  return (
    <div className={fields['field']}>
      <label className={fields['label']} htmlFor={id}>
        Register documents from a file
      </label>
      <input
        id={id}
        type="file"
        accept=".json,.graphql,.gql"
        aria-describedby={`${id}-description`}
        disabled={registering.isPending || isViewing}
        onChange={({ currentTarget }) => {
          const [file] = currentTarget.files ?? [];
          if (file !== undefined) registering.mutate(file);
          // So that the same file can be chosen again.
          currentTarget.value = '';
        }}
      />
      <span id={`${id}-description`} className={fields['description']}>
        A manifest of persisted queries (Apollo or Relay), or a file with one GraphQL document. None is
        removed.
      </span>
      <p role="status">
        {data !== undefined &&
          `${formatNumber(data.new_documents.length)} new, ${formatNumber(data.known_documents)} known before${data.changed_ids.length === 0 ? '' : `, ${formatNumber(data.changed_ids.length)} with another id than before`}.`}
      </p>
      {registering.isError && <ErrorMessage error={registering.error} isChange />}
    </div>
  );
}
