import { Button } from '../../../ui/button.tsx';
import { Moment } from '../../../ui/moment.tsx';
import page from '../../../ui/page/page.module.css';
import type { HistoryEntry } from './history.ts';
import styles from './panels.module.css';

type HistoryPanelProps = {
  entries: readonly HistoryEntry[];
  onChoose: (entry: HistoryEntry) => void;
  onClear: () => void;
};

/** What was run before in this browser, newest first; choosing one puts it into the editors. */
export function HistoryPanel({ entries, onChoose, onClear }: HistoryPanelProps) {
  if (entries.length === 0) return <p className={page['muted']}>Queries that you run appear here.</p>;
  return (
    <>
      <ul className={styles['list']}>
        {entries.map((entry) => (
          <li key={entry.at + entry.query}>
            <button
              type="button"
              className={styles['entry']}
              onClick={() => {
                onChoose(entry);
              }}
            >
              <code>{titleOf(entry)}</code> <Moment at={entry.at} />
            </button>
          </li>
        ))}
      </ul>
      <Button onPress={onClear}>Clear history</Button>
    </>
  );
}

function titleOf({ operationName, query }: HistoryEntry): string {
  const shortened = query
    .replace(/^[ \t]*#.*$/gm, '')
    .replace(/\s+/g, ' ')
    .trim();
  // The editor tells the name a moment after the text was typed.
  const [, named = null] = /^(?:query|mutation|subscription) (\w+)/.exec(shortened) ?? [];
  return operationName ?? named ?? shortened.slice(0, 60);
}
