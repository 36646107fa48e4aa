import { useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { Button } from '../../../ui/button.tsx';
import { SelectField } from '../../../ui/form/select-field.tsx';
import type { PanelName } from './side-panel.tsx';
import styles from './workbench.module.css';

type ToolbarProps = { panel: PanelName | null; onPanel: (panel: PanelName | null) => void };

const PANELS = [
  { name: 'schema', label: 'Schema' },
  { name: 'history', label: 'History' },
] as const;

/** Runs and stops the operation, and opens the panels. */
export function Toolbar({ panel, onPanel }: ToolbarProps) {
  const { isRunning, operations, operationName } = useGraphiQL((state) => ({
    isRunning: state.isFetching || state.subscription !== null,
    operations: state.operations,
    operationName: state.operationName,
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
