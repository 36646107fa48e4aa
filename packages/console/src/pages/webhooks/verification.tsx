import { LanguageTabs } from '../../ui/language-tabs.tsx';
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
      <LanguageTabs languages={VERIFICATION_SAMPLES}>
        {({ label, note, sample }) => (
          <>
            <p className={styles['muted']}>{note}</p>
            <CodeBlock what={`${label} sample`} shown={sample.trimEnd()} copied={sample} />
          </>
        )}
      </LanguageTabs>
    </section>
  );
}
