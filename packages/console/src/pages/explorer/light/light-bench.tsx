import { useState } from 'react';
import { startsSubscription } from '../../../code-samples/languages/operation.ts';
import { Button } from '../../../ui/button.tsx';
import page from '../../../ui/page/page.module.css';
import { failureOf } from '../calls/failure.ts';
import { post } from '../calls/requests.ts';
import type { TokenSource } from '../calls/requests.ts';
import type { CallReport } from '../calls/report.ts';
import { Price, WouldBeRefused } from '../panels/estimate-panel.tsx';
import { ReportPanel } from '../panels/report-panel.tsx';
import { useEstimate } from '../use-estimate.ts';
import { showResponse } from '../workbench/show-response.ts';
import styles from '../workbench/workbench.module.css';

type LightBenchProps = {
  dataUrl: string;
  token: TokenSource;
  query: string;
  onTyped: (query: string) => void;
  /** Whether the field is in use: then the editors wait. */
  onBusy: (isBusy: boolean) => void;
  pointsLeft: number | null;
  onUsed: () => void;
};

/** A plain field that works until the editors have loaded. */
export function LightBench(props: LightBenchProps) {
  const { dataUrl, token, query, onTyped, onBusy, pointsLeft, onUsed } = props;
  const [isRunning, setRunning] = useState(false);
  const [report, setReport] = useState<CallReport | null>(null);
  const [result, setResult] = useState('');
  const isSubscription = startsSubscription(query);
  const shown = useEstimate(query.trim() === '' ? null : { query }, { dataUrl, token });
  async function run() {
    setRunning(true);
    onBusy(true);
    const { signal } = new AbortController();
    const answer = await post({ query }, { dataUrl, token, signal }).catch((error: unknown) => {
      const { message, report: failed } = failureOf(error);
      return { result: { errors: [{ message }] }, report: failed };
    });
    setReport(answer.report);
    setResult(JSON.stringify(answer.result, null, 2));
    setRunning(false);
    onUsed();
    showResponse();
  }
  return (
    <section aria-label="Editors" className={page['card']}>
      <div className={styles['toolbar']}>
        <Button
          variant="primary"
          isPending={isRunning}
          isDisabled={isSubscription}
          onPress={() => void run()}
        >
          Run
        </Button>
        <Price {...shown} report={report} isSubscription={isSubscription} pointsLeft={pointsLeft} />
        <p role="status" className={page['muted']}>
          {isSubscription ? 'Subscriptions run once the editor has loaded.' : 'The editor is loading.'}
        </p>
      </div>
      <WouldBeRefused {...shown} report={report} />
      <div className={styles['bench']}>
        <div className={styles['column']}>
          <h2>Query</h2>
          <textarea
            aria-label="Query"
            spellCheck={false}
            className={`${styles['editor'] ?? ''} ${styles['query'] ?? ''} ${styles['light'] ?? ''}`}
            value={query}
            onChange={({ target }) => {
              onTyped(target.value);
            }}
            onFocus={() => {
              onBusy(true);
            }}
            onBlur={() => {
              onBusy(false);
            }}
          />
        </div>
        <div className={styles['column']}>
          <h2 id="response">Response</h2>
          {report !== null && <ReportPanel report={report} pointsLeft={pointsLeft} />}
          <div className={`${styles['editor'] ?? ''} ${styles['response'] ?? ''}`}>
            <pre className={styles['result']} tabIndex={0} role="region" aria-label="Response">
              {result}
            </pre>
          </div>
        </div>
      </div>
    </section>
  );
}
