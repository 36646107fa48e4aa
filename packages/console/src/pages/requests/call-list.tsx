import { explainCode } from '../../api/code-explanations.ts';
import { Button } from '../../ui/button.tsx';
import { formatNumber, formatTimes } from '../../ui/format.ts';
import { ExactMoment, Moment } from '../../ui/moment.tsx';
import { Badge, Empty } from '../../ui/page/states.tsx';
import { CallDetails } from './call-details.tsx';
import { applicationLabel } from './filters.tsx';
import { foldNeighbours } from './fold-neighbours.ts';
import type { Fold } from './fold-neighbours.ts';
import type { RefusedCall } from './queries.ts';
import { useLimitAdvice } from './use-limit-advice.ts';
import { DEFAULT_RANGE, RANGES } from './search.ts';
import type { RequestsSearch } from './search.ts';
import styles from './requests.module.css';

type CallListProps = {
  calls: readonly RefusedCall[];
  /** Other members are named. */
  viewerId: number | undefined;
  search: RequestsSearch;
  onClear: (search: RequestsSearch) => void;
  more: { isPending: boolean; load: () => void } | null;
};

/** Calls, newest first, equal neighbours folded; each opens to its details. */
export function CallList({ calls, viewerId, search, onClear, more }: CallListProps) {
  const advise = useLimitAdvice(calls);
  if (calls.length === 0) return <NoCalls search={search} onClear={onClear} />;
  const folds = foldNeighbours(calls);
  return (
    <>
      <ul className={styles['calls']}>
        {folds.map((fold, index) => (
          // The oldest call stays the same while a burst goes on.
          <li key={fold.calls.at(-1)?.refusal_id}>
            <details className={styles['call']} open={search.request_id === undefined ? undefined : true}>
              <summary className={styles['summary']}>
                <FoldHead
                  fold={fold}
                  viewerId={viewerId}
                  mayGoOn={more !== null && index === folds.length - 1}
                />
              </summary>
              {fold.calls.length === 1 ? (
                <CallDetails call={fold.calls[0]} advice={advise(fold.calls[0].code)} />
              ) : (
                <FoldedCalls calls={fold.calls} advice={advise(fold.calls[0].code)} />
              )}
            </details>
          </li>
        ))}
      </ul>
      {more !== null && (
        <div>
          <Button isReading isPending={more.isPending} onPress={more.load}>
            Show older calls
          </Button>
        </div>
      )}
    </>
  );
}

type FoldHeadProps = {
  fold: Fold;
  viewerId: number | undefined;
  /** Whether older calls that aren't loaded may belong to it. */
  mayGoOn: boolean;
};

function FoldHead({ fold: { calls, count }, viewerId, mayGoOn }: FoldHeadProps) {
  const { status, code, at, account_id, account_name, ...newest } = calls[0];
  const application = applicationLabel(newest.application_id, {
    name: newest.application_name,
    type: newest.application_type,
  });
  return (
    <>
      <Badge tone={status !== null && status >= 500 ? 'danger' : 'warning'}>{status ?? 'Closed'}</Badge>
      <span className={styles['title']}>
        {explainCode(code).title}
        {count > 1 && ` × ${formatNumber(count)}${mayGoOn ? ' or more' : ''}`}
      </span>
      <span className={styles['who']}>
        {application}
        {account_id !== viewerId && account_name !== null && ` · ${account_name}`}
      </span>
      <span className={styles['when']}>
        {calls.length === 1 ? <Moment at={at} /> : formatTimes(calls.at(-1)?.at ?? at, at)}
      </span>
    </>
  );
}

/** Each of them by itself, as they differ in time, request ID and message. */
function FoldedCalls({ calls, advice }: { calls: readonly RefusedCall[]; advice: string | null }) {
  return (
    <ul className={styles['folded']}>
      {calls.map((call) => (
        <li key={call.refusal_id}>
          <details className={styles['call']}>
            <summary className={styles['summary']}>
              <ExactMoment at={call.at} />
              <code className={styles['request']}>{call.request_id}</code>
            </summary>
            <CallDetails call={call} advice={advice} />
          </details>
        </li>
      ))}
    </ul>
  );
}

function NoCalls({ search, onClear }: Pick<CallListProps, 'search' | 'onClear'>) {
  if (search.request_id !== undefined) {
    return (
      <Empty title="No refused call has this request ID">
        <p>
          The call passed, is too old, or was one of very many that were only counted. Check that you copied
          the whole ID.
        </p>
      </Empty>
    );
  }
  const { text } = RANGES[search.range ?? DEFAULT_RANGE];
  if (search.code === undefined && search.application === undefined) {
    return (
      <Empty title={`No refused calls ${text}`}>
        <p>
          Calls that are refused or fail appear here by themselves, with the reason and what to do about it.
        </p>
      </Empty>
    );
  }
  return (
    <Empty title="No call matches these filters">
      <Button
        isReading
        onPress={() => {
          onClear(search.range === undefined ? {} : { range: search.range });
        }}
      >
        Clear filters
      </Button>
    </Empty>
  );
}
