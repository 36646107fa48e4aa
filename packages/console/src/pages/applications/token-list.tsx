import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, resultOf } from '../../api/client.ts';
import type { Application } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form/form.tsx';
import { SelectField } from '../../ui/form/select-field.tsx';
import { TextField } from '../../ui/form/text-field.tsx';
import { Filters, SearchField } from '../../ui/list/filters.tsx';
import { Pagination } from '../../ui/list/pagination.tsx';
import { useListSearch } from '../../ui/list/use-list-search.ts';
import styles from '../../ui/page/page.module.css';
import { Empty, ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import { STATUS_OPTIONS, applicationTokensQuery } from '../tokens/queries.ts';
import { TokenTable } from '../tokens/token-table.tsx';

/** **Manually created access tokens**: generate, copy without revealing, revoke. */
export function TokenList({ application }: { application: Application }) {
  const { application_id, status } = application;
  const { current, isFiltered, setFilters, setAfter } = useListSearch();
  const { data, isError, isPending, error, refetch } = useQuery(
    applicationTokensQuery(application_id, current),
  );
  const [isGenerating, setGenerating] = useState(false);
  const isEmpty = data?.tokens.length === 0;
  const isUnused = isEmpty && !isFiltered && current.after === undefined;
  return (
    <section id="tokens" className={styles['card']} aria-labelledby="tokens-title">
      <div className={styles['header']}>
        <h2 id="tokens-title">Manually created access tokens</h2>
        {status === 'active' && (
          <Button
            variant="primary"
            onPress={() => {
              setGenerating(true);
            }}
          >
            Generate New Token
          </Button>
        )}
      </div>
      {!isUnused && (
        <Filters>
          <SearchField
            label="Search"
            value={current.search ?? ''}
            onChange={(search) => {
              setFilters({ search });
            }}
          />
          <SelectField
            label="Status"
            name="status"
            options={STATUS_OPTIONS}
            value={current.status ?? ''}
            onChange={(chosen) => {
              setFilters({ status: chosen });
            }}
          />
        </Filters>
      )}
      {isPending && <Skeleton />}
      {data === undefined && isError && <ErrorMessage error={error} onRetry={() => void refetch()} />}
      {isUnused && (
        <Empty title="No tokens yet">
          <p>Generate a token here, or have your program request one with the client ID and secret.</p>
        </Empty>
      )}
      {isEmpty && !isUnused && <p role="status">No tokens match.</p>}
      {data !== undefined && !isEmpty && <TokenTable tokens={data.tokens} />}
      <Pagination
        of="tokens"
        after={current.after}
        nextCursor={data?.next_cursor ?? null}
        onChange={setAfter}
      />
      <GenerateToken
        application={application}
        isOpen={isGenerating}
        onClose={() => {
          setGenerating(false);
        }}
      />
    </section>
  );
}

type GenerateTokenProps = { application: Application; isOpen: boolean; onClose: () => void };

function GenerateToken({ application, isOpen, onClose }: GenerateTokenProps) {
  const queryClient = useQueryClient();
  const { application_id, token_lifespan_label } = application;
  return (
    <Dialog title="Generate Access Token" isOpen={isOpen} onClose={onClose}>
      <p>The token is valid for {token_lifespan_label}. You can copy it from the list at any time.</p>
      <Form
        submitLabel="Generate"
        onCancel={onClose}
        fieldOfCode={{ token_limit_reached: 'name' }}
        onSubmit={(values) =>
          resultOf(
            api.POST('/api/console/applications/{application_id}/tokens', {
              params: { path: { application_id } },
              body: { name: values['name'] ?? '' },
            }),
          )
        }
        onDone={() => {
          onClose();
          void queryClient.invalidateQueries({ queryKey: ['tokens'] });
          void queryClient.invalidateQueries({ queryKey: ['applications', application_id] });
        }}
      >
        {(errors) => (
          <TextField
            label="Name"
            name="name"
            autoComplete="off"
            description="Where the token is used, for example: nightly report."
            error={errors['name']}
            autoFocus
          />
        )}
      </Form>
    </Dialog>
  );
}
