import { QueryEditor, ResponseEditor, VariableEditor, useGraphiQL } from '@graphiql/react';
import type { MonacoEditor } from '@graphiql/react';
import { KeyCode } from 'monaco-graphql/esm/monaco-editor.js';
import { useEffect } from 'react';
import type { ReactNode } from 'react';
import styles from './workbench.module.css';

const OPTIONS = {
  fontFamily: "'JetBrains Mono Variable', ui-monospace, monospace",
  fontSize: 13,
  // Monaco's own menu brings a style element; the browser's has copy and paste, too.
  contextmenu: false,
  fixedOverflowWidgets: true,
  wordWrap: 'on',
  bracketPairColorization: { enabled: false },
  guides: { indentation: false },
  scrollbar: { alwaysConsumeMouseWheel: false, verticalScrollbarSize: 10 },
} as const;

/** Where Escape closes something else first. */
const NOTHING_OPEN = '!suggestWidgetVisible && !findWidgetVisible && !parameterHintsVisible && !inQuickOpen';

type EditorsProps = { belowQuery: ReactNode; children: ReactNode };

/** Query, variables and response. `children` stand above the response. */
export function Editors({ belowQuery, children }: EditorsProps) {
  const { queryEditor, variableEditor, responseEditor } = useGraphiQL((state) => ({
    queryEditor: state.queryEditor,
    variableEditor: state.variableEditor,
    responseEditor: state.responseEditor,
  }));
  useOptions(queryEditor, 'Query');
  useOptions(variableEditor, 'Variables');
  useOptions(responseEditor, 'Response');
  return (
    <>
      <div className={styles['column']}>
        <div className={styles['title']}>
          <h2>Query</h2>
          <p id="editor-keys" className={styles['keys']}>
            Enter opens an editor, Escape leaves it.
          </p>
        </div>
        <QueryEditor {...frameOf('Query editor', 'query')} />
        <h2>Variables</h2>
        <VariableEditor {...frameOf('Variables editor', 'variables')} />
        {belowQuery}
      </div>
      <div className={styles['column']}>
        <h2 id="response">Response</h2>
        {children}
        <ResponseEditor {...frameOf('Response', 'response')} />
      </div>
    </>
  );
}

function frameOf(label: string, kind: string) {
  return {
    role: 'group',
    'aria-label': label,
    'aria-describedby': 'editor-keys',
    className: `${styles['editor'] ?? ''} ${styles[kind] ?? ''}`,
  };
}

/** Escape moves the focus to the editor's frame, from which Tab goes on: in an editor, Tab indents. */
function useOptions(editor: MonacoEditor | undefined, ariaLabel: string): void {
  useEffect(() => {
    if (editor === undefined) return undefined;
    editor.updateOptions({ ...OPTIONS, ariaLabel });
    const leaving = editor.addAction({
      id: 'leave-editor',
      label: 'Leave the editor',
      keybindings: [KeyCode.Escape],
      precondition: NOTHING_OPEN,
      run: () => {
        editor.getContainerDomNode().focus();
      },
    });
    return () => {
      leaving.dispose();
    };
  }, [editor, ariaLabel]);
}
