import '../monaco/workers.ts';
import { GraphiQLProvider } from '@graphiql/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { Addresses } from '../../../api/addresses.ts';
import type { Example } from '../../../api/examples.ts';
import { createFetcher } from '../calls/fetcher.ts';
import type { TokenSource } from '../calls/requests.ts';
import type { Report } from '../calls/report.ts';
import { EDITOR_THEMES } from '../monaco/theme.ts';
import { addToHistory, readHistory } from '../panels/history.ts';
import { ANY_QUERY } from '../light/first-query.ts';
import { callForSchema, schemaQuery } from '../queries.ts';
import { explorerStorage } from '../../../api/explorer-storage.ts';
import { Bench } from './bench.tsx';
import { useTheme } from './use-theme.ts';

export type WorkbenchProps = {
  accountId: number;
  addresses: Addresses;
  pointsLeft: number | null;
  examples: readonly Example[];
  token: TokenSource;
  /** What was typed before the editors were there. */
  typed: string | null;
  /** A call may have changed what is left. */
  onUsed: () => void;
};

/** GraphiQL's editors against the data endpoint. */
export function Workbench(props: WorkbenchProps) {
  const { accountId, addresses, pointsLeft, examples, token, typed, onUsed } = props;
  const { dataUrl } = addresses;
  const [storage] = useState(() => explorerStorage(accountId));
  const [report, setReport] = useState<Report | null>(null);
  const [history, setHistory] = useState(() => readHistory(storage));
  const theme = useTheme();
  const queryClient = useQueryClient();
  const schema = useQuery(schemaQuery);
  const loading = useMutation({
    mutationFn: () => callForSchema(dataUrl, token),
    onSuccess: (loaded) => {
      queryClient.setQueryData(schemaQuery.queryKey, loaded);
      onUsed();
    },
  });
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
      defaultQuery={examples[0]?.query ?? ANY_QUERY}
      {...(typed === null ? {} : { initialQuery: typed })}
      defaultTheme={theme}
      editorTheme={EDITOR_THEMES}
    >
      <Bench
        theme={theme}
        addresses={addresses}
        token={token}
        examples={examples}
        report={report}
        pointsLeft={pointsLeft}
        schemaError={schema.data?.error ?? schema.error?.message ?? null}
        onLoadSchema={() => {
          loading.mutate();
        }}
        history={history}
        onClearHistory={() => {
          storage.removeItem('history');
          setHistory([]);
        }}
      />
    </GraphiQLProvider>
  );
}
