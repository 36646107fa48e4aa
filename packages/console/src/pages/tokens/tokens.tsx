import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { allApplicationsQuery } from '../../api/applications.ts';
import { isViewing } from '../../api/viewing.ts';
import { Button } from '../../ui/button.tsx';
import { Pagination } from '../../ui/list/pagination.tsx';
import { useListSearch } from '../../ui/list/use-list-search.ts';
import { PageHeader } from '../../ui/page/page-header.tsx';
import styles from '../../ui/page/page.module.css';
import { Empty, ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import { tokensQuery } from './queries.ts';
import { lazyPart } from '../../ui/part/lazy-part.ts';
import { useHashAction } from '../../ui/use-hash-action.ts';
import { TemporaryToken } from './temporary-token.tsx';
import { TokenTable } from './token-table.tsx';

const TokenFilters = lazyPart(async () => (await import('./token-filters.tsx')).TokenFilters);

const GenerateToken = lazyPart(async () => (await import('./generate-token.tsx')).GenerateToken);

/** `/user/api_v2/access_tokens`: the manually created tokens of all applications, below the temporary one. */
export function TokensPage() {
  const { current, isFiltered, isLong, setFilters, setAfter } = useListSearch();
  const { data, isPending, isError, error, refetch } = useQuery(tokensQuery(current));
  const usable = useQuery(allApplicationsQuery).data?.filter(({ status }) => status === 'active');
  const [isGenerating, setGenerating] = useState(false);
  const [newTokenId, setNewTokenId] = useState<number>();
  useHashAction('generate', () => {
    setGenerating(true);
  });
  const generate = (
    <Button
      variant="primary"
      onPress={() => {
        setGenerating(true);
      }}
    >
      Generate New Token
    </Button>
  );
  const isEmpty = data?.tokens.length === 0;
  const isUnused = isEmpty && !isFiltered && current.after === undefined;
  return (
    <>
      <PageHeader title="Tokens" />
      {!isViewing && <TemporaryToken />}
      <section className={styles['card']} aria-labelledby="manual-tokens">
        <div className={styles['header']}>
          <h2 id="manual-tokens">Manually created access tokens</h2>
          {usable !== undefined && usable.length > 0 && generate}
        </div>
        {isLong(data?.tokens, data?.next_cursor) && (
          <Suspense>
            <TokenFilters current={current} setFilters={setFilters} />
          </Suspense>
        )}
        {isPending && <Skeleton />}
        {data === undefined && isError && (
          <ErrorMessage error={error} what="your tokens" onRetry={() => void refetch()} />
        )}
        {isUnused && (
          <Empty title="No tokens yet">
            {usable?.length === 0 ? (
              <p>
                A token belongs to an application.{' '}
                <Link to="/api_v2/applications">Create an application</Link> first.
              </p>
            ) : (
              <p>A token that you generate here is valid until it expires, or until you revoke it.</p>
            )}
          </Empty>
        )}
        {isEmpty && !isUnused && <p role="status">No tokens match.</p>}
        {data !== undefined && !isEmpty && (
          <TokenTable
            tokens={data.tokens}
            newTokenId={newTokenId}
            applicationOf={({ application_id, application_name }) => (
              <Link to="/api_v2/applications/$applicationId" params={{ applicationId: application_id }}>
                <bdi>{application_name}</bdi>
              </Link>
            )}
          />
        )}
        <Pagination
          of="tokens"
          after={current.after}
          nextCursor={data?.next_cursor ?? null}
          onChange={setAfter}
        />
        <Suspense>
          <GenerateToken
            applications={usable ?? []}
            isOpen={isGenerating && usable !== undefined && usable.length > 0}
            onClose={() => {
              setGenerating(false);
            }}
            onGenerated={setNewTokenId}
          />
        </Suspense>
      </section>
    </>
  );
}
