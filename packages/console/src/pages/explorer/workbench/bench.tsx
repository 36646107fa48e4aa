import { tryParseJSONC, useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { OperationTypeNode, getOperationAST } from 'graphql';
import { useEffect, useState } from 'react';
import type { Addresses } from '../../../api/addresses.ts';
import type { Example } from '../../../api/examples.ts';
import { CodeSamples } from '../../../code-samples/code-samples.tsx';
import type { Operation } from '../../../code-samples/languages/operation.ts';
import { Button } from '../../../ui/button.tsx';
import page from '../../../ui/page/page.module.css';
import type { GraphqlParams, TokenSource } from '../calls/requests.ts';
import type { Report } from '../calls/report.ts';
import type { Theme } from '../monaco/theme.ts';
import type { HistoryEntry } from '../panels/history.ts';
import { DearestFields, Price, WouldBeRefused } from '../panels/estimate-panel.tsx';
import { ReportPanel } from '../panels/report-panel.tsx';
import { useEstimate } from '../use-estimate.ts';
import { Editors } from './editors.tsx';
import { SidePanel } from './side-panel.tsx';
import type { PanelName } from './side-panel.tsx';
import { QueryTabs } from './query-tabs.tsx';
import { showResponse } from './show-response.ts';
import { Toolbar } from './toolbar.tsx';
import styles from './workbench.module.css';

type BenchProps = {
  theme: Theme;
  addresses: Addresses;
  token: TokenSource;
  examples: readonly Example[];
  report: Report | null;
  pointsLeft: number | null;
  schemaError: string | null;
  /** By a call. */
  onLoadSchema: () => void;
  history: readonly HistoryEntry[];
  onClearHistory: () => void;
};

/** The editors with what surrounds them: tabs, tools, schema, history, what a call used, and code samples. */
export function Bench(props: BenchProps) {
  const { theme, addresses, token, examples, report, pointsLeft, schemaError, onLoadSchema } = props;
  const [panel, setPanel] = useState<PanelName | null>(null);
  const actions = useGraphiQLActions();
  useEffect(() => {
    actions.setTheme(theme);
  }, [actions, theme]);
  const { operation, isParsed } = useOperation();
  const shown = useEstimate(isParsed ? paramsOf(operation) : null, { dataUrl: addresses.dataUrl, token });
  useResponseInView();
  return (
    <>
      <section aria-label="Editors" className={page['card']}>
        <QueryTabs />
        <Toolbar
          panel={panel}
          onPanel={setPanel}
          examples={examples}
          price={
            <Price
              {...shown}
              report={report}
              isSubscription={operation.isSubscription}
              pointsLeft={pointsLeft}
            />
          }
        />
        <WouldBeRefused {...shown} report={report} />
        {schemaError !== null && (
          <div role="status" className={page['actions']}>
            {schemaError} Completion needs it. Loading it is a call that is charged.
            <Button onPress={onLoadSchema}>Load the schema</Button>
          </div>
        )}
        <div className={styles['bench']} data-panel={panel !== null}>
          {panel !== null && <SidePanel name={panel} {...props} />}
          <Editors belowQuery={<DearestFields estimate={shown.estimate} />}>
            {report !== null && <ReportPanel report={report} pointsLeft={pointsLeft} />}
          </Editors>
        </div>
      </section>
      <CodeSamples
        dataUrl={addresses.dataUrl}
        operation={operation}
        credential={{ kind: 'token', token: '<ACCESS_TOKEN>' }}
        token={() => token.read(false)}
      >
        <p>
          A copied sample contains the token that the explorer calls with. The temporary one changes every 12
          hours and is not for production: use a token of one of your applications there, and keep it secret.
        </p>
      </CodeSamples>
    </>
  );
}

/** In a narrow window the response is below the editors: a run goes there. */
function useResponseInView(): void {
  const isRunning = useGraphiQL((state) => state.isFetching || state.subscription !== null);
  useEffect(() => {
    if (isRunning) showResponse();
  }, [isRunning]);
}

/** What the editors hold; variables that are not JSON are left out. */
function useOperation(): { operation: Operation; isParsed: boolean } {
  const { tab, documentAST, operationName } = useGraphiQL(
    ({ tabs, activeTabIndex, documentAST: document, operationName: name }) => ({
      tab: tabs[activeTabIndex],
      documentAST: document,
      operationName: name,
    }),
  );
  const operation = documentAST && getOperationAST(documentAST, operationName);
  return {
    operation: {
      query: tab?.query ?? '',
      operationName: operationName ?? null,
      variables: variablesOf(tab?.variables ?? ''),
      isSubscription: operation?.operation === OperationTypeNode.SUBSCRIPTION,
    },
    isParsed: documentAST !== undefined,
  };
}

function paramsOf({ query, operationName, variables }: Operation): GraphqlParams {
  return { query, operationName, variables };
}

function variablesOf(text: string): unknown {
  try {
    return tryParseJSONC(text);
  } catch {
    return undefined;
  }
}
