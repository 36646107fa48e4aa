import type { ReactNode } from 'react';
import { Tab, TabList, TabPanel, Tabs } from 'react-aria-components';
import styles from './language-tabs.module.css';

type LanguageTabsProps<L> = { languages: readonly L[]; children: (language: L) => ReactNode };

/** The same in several programming languages, one at a time. */
export function LanguageTabs<L extends { id: string; label: string }>({
  languages,
  children,
}: LanguageTabsProps<L>) {
  return (
    <Tabs>
      <TabList aria-label="Language" className={styles['languages'] ?? ''}>
        {languages.map(({ id, label }) => (
          <Tab key={id} id={id} className={styles['language'] ?? ''}>
            {label}
          </Tab>
        ))}
      </TabList>
      {languages.map((language) => (
        <TabPanel key={language.id} id={language.id} className={styles['panel'] ?? ''}>
          {children(language)}
        </TabPanel>
      ))}
    </Tabs>
  );
}
