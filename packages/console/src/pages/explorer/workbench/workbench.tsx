import '../monaco/workers.ts';
import { GraphiQLProvider } from '@graphiql/react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useMemo, useState } from 'react';
import type { Addresses } from '../../../api/addresses.ts';
import { temporaryTokenQuery } from '../../../api/temporary-token.ts';
import { createFetcher } from '../calls/fetcher.ts';
import type { TokenSource } from '../calls/post.ts';
import type { Report } from '../calls/report.ts';
import { EDITOR_THEMES } from '../monaco/theme.ts';
import { addToHistory, readHistory } from '../panels/history.ts';
import { schemaQuery } from '../queries.ts';
import { explorerStorage } from '../../../api/explorer-storage.ts';
import { Bench } from './bench.tsx';
import { useTheme } from './use-theme.ts';

const FIRST_QUERY = `# Write a query or a subscription. Ctrl-Space completes, Ctrl-Enter runs it.
{
  __typename
}
`;

export type WorkbenchProps = {
  accountId: number;
  addresses: Addresses;
  pointsLeft: number | null;
  /** A call may have changed what is left. */
  onUsed: () => void;
};

/** GraphiQL's editors against the data endpoint, with the temporary token. */
export function Workbench({ accountId, addresses, pointsLeft, onUsed }: WorkbenchProps) {
  const { dataUrl } = addresses;
  const [storage] = useState(() => explorerStorage(accountId));
  const [report, setReport] = useState<Report | null>(null);
  const [history, setHistory] = useState(() => readHistory(storage));
  const token = useToken();
  const theme = useTheme();
  const schema = useQuery(schemaQuery(dataUrl, token));
  const fetcher = useMemo(
    () =>
      createFetcher({
        dataUrl,
        token,
        onStart: ({ query, operationName, variables }) => {
          setReport(null);
          const text = variables === undefined ? '' : JSON.stringify(variables, null, 2);
          const at = new Date().toISOString();
          setHistory(
            addToHistory(storage, { query, variables: text, operationName: operationName ?? null, at }),
          );
        },
        onReport: (next) => {
          setReport(next);
          if (next.kind === 'call' || next.state === 'ended') onUsed();
        },
      }),
    [dataUrl, token, storage, onUsed],
  );
  return (
    <GraphiQLProvider
      fetcher={fetcher}
      schema={schema.data?.introspection ?? null}
      storage={storage}
      shouldPersistHeaders={false}
      defaultQuery={FIRST_QUERY}
      defaultTheme={theme}
      editorTheme={EDITOR_THEMES}
    >
      <Bench
        theme={theme}
        addresses={addresses}
        token={token}
        report={report}
        pointsLeft={pointsLeft}
        schemaError={schema.data?.error ?? schema.error?.message ?? null}
        onReloadSchema={() => void schema.refetch()}
        history={history}
        onClearHistory={() => {
          storage.removeItem('history');
          setHistory([]);
        }}
      />
    </GraphiQLProvider>
  );
}

function useToken(): TokenSource {
  const queryClient = useQueryClient();
  return useCallback(
    async (renew) => {
      const query = renew ? { ...temporaryTokenQuery, staleTime: 0 } : temporaryTokenQuery;
      return (await queryClient.query(query)).access_token;
    },
    [queryClient],
  );
}
