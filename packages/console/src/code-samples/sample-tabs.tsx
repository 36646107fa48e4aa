import { CopyButton } from '../ui/copy-button.tsx';
import { LanguageTabs } from '../ui/language-tabs.tsx';
import page from '../ui/page/page.module.css';
import { LANGUAGES } from './samples.ts';
import type { Credential, Operation } from './languages/operation.ts';
import styles from './code-samples.module.css';

type SampleTabsProps = {
  dataUrl: string;
  operation: Operation;
  /** What is on the page. */
  shown: Credential;
  /** What is copied, which may hold a secret that isn't shown. */
  copied: () => Credential | Promise<Credential>;
  onCopied?: () => void;
  onError: (error: unknown) => void;
};

/** Working code for an operation, in one language at a time. */
export function SampleTabs({ dataUrl, operation, shown, copied, onCopied, onError }: SampleTabsProps) {
  return (
    <LanguageTabs languages={LANGUAGES}>
      {({ label, note, subscriptionNote, sample }) => (
        <>
          <div className={styles['note']}>
            <p className={page['muted']}>
              {note}
              {operation.isSubscription && ` ${subscriptionNote}`}
            </p>
            <CopyButton
              what={`${label} sample`}
              text={async () => sample({ dataUrl, operation, credential: await copied() })}
              onError={onError}
              {...(onCopied === undefined ? {} : { onCopied })}
            />
          </div>
          <pre className={styles['code']} tabIndex={0} aria-label={`${label} sample`} role="region">
            <code>{sample({ dataUrl, operation, credential: shown })}</code>
          </pre>
        </>
      )}
    </LanguageTabs>
  );
}
