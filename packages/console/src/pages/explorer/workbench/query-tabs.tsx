import { useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { Button } from '../../../ui/button.tsx';
import styles from './workbench.module.css';

/** The open queries. */
export function QueryTabs() {
  const { tabs, activeTabIndex } = useGraphiQL((state) => ({
    tabs: state.tabs,
    activeTabIndex: state.activeTabIndex,
  }));
  const actions = useGraphiQLActions();
  return (
    <nav aria-label="Open queries" className={styles['tabs']}>
      {tabs.map(({ id, title }, index) => {
        const name = title === '<untitled>' ? `Query ${String(index + 1)}` : title;
        return (
          <span key={id} className={styles['tab']} data-current={index === activeTabIndex}>
            <button
              type="button"
              className={styles['tabName']}
              aria-current={index === activeTabIndex}
              onClick={() => {
                actions.changeTab(index);
              }}
            >
              {name}
            </button>
            {tabs.length > 1 && (
              <button
                type="button"
                className={styles['close']}
                aria-label={`Close ${name}`}
                onClick={() => {
                  actions.closeTab(index);
                }}
              >
                ×
              </button>
            )}
          </span>
        );
      })}
      <Button
        variant="quiet"
        onPress={() => {
          actions.addTab();
        }}
      >
        New query
      </Button>
    </nav>
  );
}
