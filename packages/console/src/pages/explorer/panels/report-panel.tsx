import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { explainCode } from '../../../api/code-explanations.ts';
import { CodeLink } from '../../../ui/code-link.tsx';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { formatNumber } from '../../../ui/format.ts';
import type { CallReport, Refusal, Report, SubscriptionReport } from '../calls/report.ts';
import styles from './panels.module.css';

const TICK_MS = 1_000;

/** Each minute that a subscription has begun is charged. */
const MINUTE_MS = 60_000;

type ReportPanelProps = {
  report: Report;
  /** Points that remain in the period, as account last told; the gateway doesn't tell it on a WebSocket. */
  pointsLeft: number | null;
};

/** What a call used, what remains, and why it was refused. */
export function ReportPanel({ report, pointsLeft }: ReportPanelProps) {
  return (
    <>
      <div role="status">
        {report.kind === 'call' ? (
          <CallFacts report={report} />
        ) : (
          <SubscriptionFacts report={report} pointsLeft={pointsLeft} />
        )}
      </div>
      {report.refusal !== null && <RefusalExplained refusal={report.refusal} />}
    </>
  );
}

function CallFacts({ report }: { report: CallReport }) {
  const { status, pointsCost, pointsEstimate, durationMs, bytes, pointsRemaining, rate, requestId } = report;
  return (
    <dl className={styles['facts']}>
      <Fact name="Status">{status}</Fact>
      {pointsCost !== null && <Fact name="Points">{formatNumber(pointsCost)}</Fact>}
      {pointsEstimate !== null && <Fact name="Estimate">{formatNumber(pointsEstimate)}</Fact>}
      <Fact name="Duration">{formatNumber(Math.round(durationMs))} ms</Fact>
      <Fact name="Received">{formatNumber(bytes)} bytes</Fact>
      {pointsRemaining !== null && <Fact name="Points left">{formatNumber(pointsRemaining)}</Fact>}
      {rate !== null && <Fact name="Calls left this minute">{formatNumber(rate.remaining)}</Fact>}
      <RequestId requestId={requestId} />
    </dl>
  );
}

const STATES = { connecting: 'Connecting', open: 'Open', ended: 'Ended' } as const;

function SubscriptionFacts({
  report,
  pointsLeft,
}: {
  report: SubscriptionReport;
  pointsLeft: number | null;
}) {
  const { state, messages, price, statedPoints, bytes, requestId } = report;
  return (
    <dl className={styles['facts']}>
      <Fact name="Subscription">{STATES[state]}</Fact>
      <Fact name="Time">
        <Elapsed report={report} format={(ms) => `${formatNumber(Math.floor(ms / 1_000))} s`} />
      </Fact>
      {price !== null && (
        <>
          <Fact name="Points per minute">{formatNumber(price.pointsPerMinute)}</Fact>
          <Fact name="Points so far">
            <Elapsed
              report={report}
              format={(ms) =>
                formatNumber((Math.floor(ms / MINUTE_MS) + 1) * price.pointsPerMinute + statedPoints)
              }
            />
          </Fact>
        </>
      )}
      <Fact name="Messages">{formatNumber(messages)}</Fact>
      <Fact name="Received">{formatNumber(bytes)} bytes</Fact>
      {state === 'ended' && pointsLeft !== null && <Fact name="Points left">{formatNumber(pointsLeft)}</Fact>}
      <RequestId requestId={requestId} />
    </dl>
  );
}

/** Counts on between messages; silent to screen readers, which would hear each second. */
function Elapsed({
  report: { state, startedMs, durationMs },
  format,
}: {
  report: SubscriptionReport;
  format: (elapsedMs: number) => string;
}) {
  const [nowMs, setNowMs] = useState(() => performance.now());
  useEffect(() => {
    if (state === 'ended') return undefined;
    const timer = setInterval(() => {
      setNowMs(performance.now());
    }, TICK_MS);
    return () => {
      clearInterval(timer);
    };
  }, [state]);
  const elapsedMs = state === 'ended' ? durationMs : Math.max(nowMs - startedMs, durationMs);
  return <span aria-live="off">{format(elapsedMs)}</span>;
}

function RequestId({ requestId }: { requestId: string | null }) {
  if (requestId === null) return null;
  return (
    <Fact name="Request ID">
      <code>{requestId}</code> <CopyButton what="request ID" text={requestId} />
    </Fact>
  );
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** What the code means, how to fix it, and where. */
function RefusalExplained({ refusal: { code, message, retryAfterSec } }: { refusal: Refusal }) {
  const { title, meaning, fix, page } = explainCode(code);
  return (
    <div role="alert" className={styles['refusal']}>
      <h3>
        {title} (<CodeLink code={code} />)
      </h3>
      {message !== title && <p>{message}</p>}
      {meaning !== undefined && <p>{meaning}</p>}
      {retryAfterSec === null ? fix !== undefined && <p>{fix}</p> : <p>Try again in {retryAfterSec} s.</p>}
      {page !== null && (
        <p>
          <Link to={page.to}>{page.label}</Link>
        </p>
      )}
    </div>
  );
}
