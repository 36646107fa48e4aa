import { useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import type { ReactNode } from 'react';
import type { Example } from '../../../api/examples.ts';
import { Button } from '../../../ui/button.tsx';
import { SelectField } from '../../../ui/form/select-field.tsx';
import type { PanelName } from './side-panel.tsx';
import styles from './workbench.module.css';

type ToolbarProps = {
  panel: PanelName | null;
  onPanel: (panel: PanelName | null) => void;
  examples: readonly Example[];
  /** What a run costs. */
  price: ReactNode;
};

const PANELS = [
  { name: 'schema', label: 'Schema' },
  { name: 'history', label: 'History' },
] as const;

/** Runs and stops the operation, and opens the panels. */
export function Toolbar({ panel, onPanel, examples, price }: ToolbarProps) {
  const { isRunning, operations, operationName } = useGraphiQL((state) => ({
    isRunning: state.isFetching || state.subscription !== null,
    operations: state.operations,
    operationName: state.operationName,
  }));
  const { queryEditor, variableEditor } = useGraphiQL((state) => ({
    queryEditor: state.queryEditor,
    variableEditor: state.variableEditor,
  }));
  const actions = useGraphiQLActions();
  const names = (operations ?? []).flatMap(({ name }) => (name === undefined ? [] : [name.value]));
  return (
    <div className={styles['toolbar']}>
      <Button
        variant={isRunning ? 'danger' : 'primary'}
        onPress={() => {
          if (isRunning) actions.stop();
          else actions.run();
        }}
      >
        {isRunning ? 'Stop' : 'Run'}
      </Button>
      {price}
      {names.length > 1 && (
        <SelectField
          label="Operation"
          name="operation"
          options={names.map((name) => ({ value: name, label: name }))}
          value={operationName ?? ''}
          onChange={(name) => {
            actions.setOperationName(name);
          }}
        />
      )}
      {examples.length > 1 && (
        <SelectField
          label="Examples"
          name="example"
          options={[
            { value: '', label: 'Choose one' },
            ...examples.map(({ name }) => ({ value: name, label: name })),
          ]}
          value=""
          onChange={(chosen) => {
            const example = examples.find(({ name }) => name === chosen);
            if (example === undefined) return;
            const { query, variables } = example;
            queryEditor?.setValue(query);
            variableEditor?.setValue(variables === undefined ? '' : JSON.stringify(variables, null, 2));
          }}
        />
      )}
      <Button
        onPress={() => {
          void actions.prettifyEditors();
        }}
      >
        Format
      </Button>
      {PANELS.map(({ name, label }) => (
        <Button
          key={name}
          aria-expanded={panel === name}
          onPress={() => {
            onPanel(panel === name ? null : name);
          }}
        >
          {label}
        </Button>
      ))}
    </div>
  );
}
