import { useQuery } from '@tanstack/react-query';
import { Suspense, useState } from 'react';
import type { Application } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { Pagination } from '../../ui/list/pagination.tsx';
import { useListSearch } from '../../ui/list/use-list-search.ts';
import styles from '../../ui/page/page.module.css';
import { Empty, ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import { STATUS_OPTIONS, applicationTokensQuery } from '../tokens/queries.ts';
import { TokenTable } from '../tokens/token-table.tsx';
import { lazyPart } from '../../ui/part/lazy-part.ts';

const ListFilters = lazyPart(async () => (await import('../../ui/list/list-filters.tsx')).ListFilters);

const GenerateToken = lazyPart(async () => (await import('../tokens/generate-token.tsx')).GenerateToken);

/** **Manually created access tokens**: generate, copy without revealing, revoke. */
export function TokenList({ application }: { application: Application }) {
  const { application_id, status } = application;
  const { current, isFiltered, isLong, setFilters, setAfter } = useListSearch();
  const { data, isError, isPending, error, refetch } = useQuery(
    applicationTokensQuery(application_id, current),
  );
  const [isGenerating, setGenerating] = useState(false);
  const [newTokenId, setNewTokenId] = useState<number>();
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
      {isLong(data?.tokens, data?.next_cursor) && (
        <Suspense>
          <ListFilters current={current} setFilters={setFilters} statuses={STATUS_OPTIONS} />
        </Suspense>
      )}
      {isPending && <Skeleton />}
      {data === undefined && isError && (
        <ErrorMessage error={error} what="its tokens" onRetry={() => void refetch()} />
      )}
      {isUnused && (
        <Empty title="No tokens yet">
          <p>Generate a token here, or have your program request one with the client ID and secret.</p>
        </Empty>
      )}
      {isEmpty && !isUnused && <p role="status">No tokens match.</p>}
      {data !== undefined && !isEmpty && <TokenTable tokens={data.tokens} newTokenId={newTokenId} />}
      <Pagination
        of="tokens"
        after={current.after}
        nextCursor={data?.next_cursor ?? null}
        onChange={setAfter}
      />
      <Suspense>
        <GenerateToken
          applications={[application]}
          isOpen={isGenerating}
          onClose={() => {
            setGenerating(false);
          }}
          onGenerated={setNewTokenId}
        />
      </Suspense>
    </section>
  );
}
