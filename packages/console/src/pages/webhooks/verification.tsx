import { Tab, TabList, TabPanel, Tabs } from 'react-aria-components';
import tabs from '../../code-samples/code-samples.module.css';
import styles from '../../ui/page/page.module.css';
import { CodeBlock } from '../../ui/secret/code-block.tsx';
import { VERIFICATION_SAMPLES } from './verification-samples.ts';

/** How a server checks that an event comes from here. */
export function Verification() {
  return (
    <section className={styles['card']} aria-labelledby="verification">
      <h2 id="verification">Verify events</h2>
      <p>
        Events follow <a href="https://www.standardwebhooks.com/">Standard Webhooks</a>, which has libraries
        for most languages. Use the raw body, before it is parsed. Respond with a 2xx status within 15
        seconds.
      </p>
      <Tabs>
        <TabList aria-label="Language" className={tabs['languages'] ?? ''}>
          {VERIFICATION_SAMPLES.map(({ id, label }) => (
            <Tab key={id} id={id} className={tabs['language'] ?? ''}>
              {label}
            </Tab>
          ))}
        </TabList>
        {VERIFICATION_SAMPLES.map(({ id, label, note, sample }) => (
          <TabPanel key={id} id={id} className={tabs['panel'] ?? ''}>
            <p className={styles['muted']}>{note}</p>
            <CodeBlock what={`${label} sample`} shown={sample.trimEnd()} copied={sample} />
          </TabPanel>
        ))}
      </Tabs>
    </section>
  );
}
