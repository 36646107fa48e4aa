import { explainCode } from '../../api/code-explanations.ts';
import { Button } from '../../ui/button.tsx';
import { Moment } from '../../ui/moment.tsx';
import { Badge, Empty } from '../../ui/page/states.tsx';
import { CallDetails } from './call-details.tsx';
import { applicationLabel } from './filters.tsx';
import type { RefusedCall } from './queries.ts';
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

/** Single calls, newest first; each opens to its details. */
export function CallList({ calls, viewerId, search, onClear, more }: CallListProps) {
  if (calls.length === 0) return <NoCalls search={search} onClear={onClear} />;
  return (
    <>
      <ul className={styles['calls']}>
        {calls.map((call) => (
          <li key={call.refusal_id}>
            <details className={styles['call']} open={search.request_id === undefined ? undefined : true}>
              <summary className={styles['summary']}>
                <CallHead call={call} viewerId={viewerId} />
              </summary>
              <CallDetails call={call} />
            </details>
          </li>
        ))}
      </ul>
      {more !== null && (
        <div>
          <Button isPending={more.isPending} onPress={more.load}>
            Show older calls
          </Button>
        </div>
      )}
    </>
  );
}

function CallHead({ call, viewerId }: { call: RefusedCall; viewerId: number | undefined }) {
  const { status, code, at, account_id, account_name } = call;
  const application = applicationLabel(call.application_id, {
    name: call.application_name,
    type: call.application_type,
  });
  return (
    <>
      <Badge tone={status !== null && status >= 500 ? 'danger' : 'warning'}>{status ?? 'Closed'}</Badge>
      <span className={styles['title']}>{explainCode(code).title}</span>
      <span className={styles['who']}>
        {application}
        {account_id !== viewerId && account_name !== null && ` · ${account_name}`}
      </span>
      <span className={styles['when']}>
        <Moment at={at} />
      </span>
    </>
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
        onPress={() => {
          onClear(search.range === undefined ? {} : { range: search.range });
        }}
      >
        Clear filters
      </Button>
    </Empty>
  );
}
