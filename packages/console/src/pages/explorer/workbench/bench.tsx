import { tryParseJSONC, useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { OperationTypeNode, getOperationAST } from 'graphql';
import { useEffect, useState } from 'react';
import type { Addresses } from '../../../api/addresses.ts';
import { CodeSamples } from '../../../code-samples/code-samples.tsx';
import type { Operation } from '../../../code-samples/languages/operation.ts';
import { Button } from '../../../ui/button.tsx';
import page from '../../../ui/page/page.module.css';
import type { TokenSource } from '../calls/post.ts';
import type { Report } from '../calls/report.ts';
import type { Theme } from '../monaco/theme.ts';
import type { HistoryEntry } from '../panels/history.ts';
import { ReportPanel } from '../panels/report-panel.tsx';
import { Editors } from './editors.tsx';
import { SidePanel } from './side-panel.tsx';
import type { PanelName } from './side-panel.tsx';
import { QueryTabs } from './query-tabs.tsx';
import { Toolbar } from './toolbar.tsx';
import styles from './workbench.module.css';

type BenchProps = {
  theme: Theme;
  addresses: Addresses;
  token: TokenSource;
  report: Report | null;
  pointsLeft: number | null;
  schemaError: string | null;
  onReloadSchema: () => void;
  history: readonly HistoryEntry[];
  onClearHistory: () => void;
};

/** The editors with what surrounds them: tabs, tools, schema, history, what a call used, and code samples. */
export function Bench(props: BenchProps) {
  const { theme, addresses, token, report, pointsLeft, schemaError, onReloadSchema } = props;
  const [panel, setPanel] = useState<PanelName | null>(null);
  const actions = useGraphiQLActions();
  useEffect(() => {
    actions.setTheme(theme);
  }, [actions, theme]);
  const operation = useOperation();
  return (
    <>
      <section aria-label="Editors" className={page['card']}>
        <QueryTabs />
        <Toolbar panel={panel} onPanel={setPanel} />
        {schemaError !== null && (
          <div role="status" className={page['actions']}>
            Completion and the schema are not available: {schemaError}
            <Button onPress={onReloadSchema}>Load the schema</Button>
          </div>
        )}
        <div className={styles['bench']} data-panel={panel !== null}>
          {panel !== null && <SidePanel name={panel} {...props} />}
          <Editors>{report !== null && <ReportPanel report={report} pointsLeft={pointsLeft} />}</Editors>
        </div>
      </section>
      <CodeSamples
        dataUrl={addresses.dataUrl}
        operation={operation}
        credential={{ kind: 'token', token: '<ACCESS_TOKEN>' }}
        token={() => token(false)}
      >
        <p>
          A copied sample contains the temporary token. It changes every 12 hours and is not for production:
          replace it with a token of one of your applications, and keep that one secret.
        </p>
      </CodeSamples>
    </>
  );
}

/** What the editors hold, for the samples; variables that are not JSON are left out. */
function useOperation(): Operation {
  const { tab, documentAST, operationName } = useGraphiQL(
    ({ tabs, activeTabIndex, documentAST: document, operationName: name }) => ({
      tab: tabs[activeTabIndex],
      documentAST: document,
      operationName: name,
    }),
  );
  const operation = documentAST && getOperationAST(documentAST, operationName);
  return {
    query: tab?.query ?? '',
    operationName: operationName ?? null,
    variables: variablesOf(tab?.variables ?? ''),
    isSubscription: operation?.operation === OperationTypeNode.SUBSCRIPTION,
  };
}

function variablesOf(text: string): unknown {
  try {
    return tryParseJSONC(text);
  } catch {
    return undefined;
  }
}
