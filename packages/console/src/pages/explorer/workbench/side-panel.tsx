import { useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { useMemo } from 'react';
import type { Addresses } from '../../../api/addresses.ts';
import page from '../../../ui/page/page.module.css';
import type { TokenSource } from '../calls/requests.ts';
import { HistoryPanel } from '../panels/history-panel.tsx';
import type { HistoryEntry } from '../panels/history.ts';
import { schemaTexts } from '../panels/fields.ts';
import { SchemaPanel } from '../panels/schema-panel.tsx';
import styles from './workbench.module.css';

export type PanelName = 'schema' | 'history';

type SidePanelProps = {
  name: PanelName;
  addresses: Pick<Addresses, 'dataUrl'>;
  token: TokenSource;
  history: readonly HistoryEntry[];
  onClearHistory: () => void;
};

/** The schema or the history, beside the editors. */
export function SidePanel({ name, addresses, token, history, onClearHistory }: SidePanelProps) {
  const { schema, queryEditor, variableEditor } = useGraphiQL((state) => ({
    schema: state.schema,
    queryEditor: state.queryEditor,
    variableEditor: state.variableEditor,
  }));
  const actions = useGraphiQLActions();
  const texts = useMemo(() => (schema ? schemaTexts(schema) : null), [schema]);
  return (
    <section aria-labelledby="explorer-panel" id="explorer-side" className={styles['side']}>
      <h2 id="explorer-panel">{name === 'schema' ? 'Schema' : 'History'}</h2>
      {name === 'history' && (
        <HistoryPanel
          entries={history}
          onClear={onClearHistory}
          onChoose={({ query, variables, operationName }) => {
            queryEditor?.setValue(query);
            variableEditor?.setValue(variables);
            if (operationName !== null) actions.setOperationName(operationName);
            queryEditor?.focus();
          }}
        />
      )}
      {name === 'schema' && texts !== null && (
        <SchemaPanel schema={texts} dataUrl={addresses.dataUrl} token={token} />
      )}
      {name === 'schema' && texts === null && <p className={page['muted']}>The schema is not loaded.</p>}
    </section>
  );
}
