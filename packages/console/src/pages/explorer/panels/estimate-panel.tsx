import { Link } from '@tanstack/react-router';
import { explainCode } from '../../../api/code-explanations.ts';
import { CodeLink } from '../../../ui/code-link.tsx';
import { formatNumber } from '../../../ui/format.ts';
import type { Report } from '../calls/report.ts';
import type { ShownEstimate } from '../use-estimate.ts';
import styles from './panels.module.css';

type PriceProps = ShownEstimate & {
  /** Of the last run. */
  report: Report | null;
  isSubscription: boolean;
  /** As account last told. */
  pointsLeft: number | null;
};

/** Beside the Run button: what it would cost, what the last run did cost, and what is left. */
export function Price({ estimate, isOutdated, report, isSubscription, pointsLeft }: PriceProps) {
  const cost = report?.kind === 'call' ? report.pointsCost : null;
  const left = estimate?.pointsLeft ?? pointsLeft;
  const facts = [
    ...(cost === null ? [] : [`Last run ${formatNumber(cost)}`]),
    ...(left === null ? [] : [`${formatNumber(left)} left`]),
  ];
  return (
    <div className={styles['price']} role="group" aria-label="Price">
      {estimate !== null && estimate.points !== null && (
        <p aria-busy={isOutdated}>
          {estimate.isBounded ? 'Up to ' : 'About '}
          {points(estimate.points)}
          {isSubscription && ' per message'}
          {!estimate.isBounded && ', or more'}
        </p>
      )}
      {facts.length > 0 && <p className={styles['left']}>{facts.join(', ')}</p>}
    </div>
  );
}

type WouldBeRefusedProps = ShownEstimate & Pick<PriceProps, 'report'>;

/** That a run would be refused, and why, unless the last one says the same. */
export function WouldBeRefused({ estimate, isOutdated, report }: WouldBeRefusedProps) {
  const refusal = estimate?.refusal ?? null;
  // Too many estimates aren't too many calls.
  const isToldElsewhere = refusal?.code === 'too_many_requests' || refusal?.code === report?.refusal?.code;
  const isShown = refusal !== null && !isOutdated && !isToldElsewhere;
  return <div role="status">{isShown && <Refused {...refusal} />}</div>;
}

function Refused({ code, message }: { code: string; message: string | null }) {
  const { title, meaning, fix, page } = explainCode(code);
  const why = message ?? meaning;
  return (
    <div className={styles['warning']}>
      <p>
        <strong>This would be refused:</strong> {title} (<CodeLink code={code} />)
      </p>
      {why !== undefined && <p>{why}</p>}
      {fix !== undefined && <p>{fix}</p>}
      {page !== null && (
        <p>
          <Link to={page.to}>{page.label}</Link>
        </p>
      )}
    </div>
  );
}

/** The fields that cost most; nothing if none does. */
export function DearestFields({ estimate }: Pick<ShownEstimate, 'estimate'>) {
  const fields = estimate?.fields ?? [];
  if (fields.length === 0) return null;
  return (
    <details className={styles['dearest']}>
      <summary>What costs most</summary>
      <ol className={styles['list']}>
        {fields.map((field) => (
          <li key={field.path}>
            <code>{field.path}</code> {points(field.points)}
          </li>
        ))}
      </ol>
    </details>
  );
}

function points(count: number): string {
  return `${formatNumber(count)} ${count === 1 ? 'point' : 'points'}`;
}
