import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { explainCode } from '../../api/code-explanations.ts';
import { CodeLink } from '../../ui/code-link.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { counted, formatNumber } from '../../ui/format.ts';
import { ExactMoment } from '../../ui/moment.tsx';
import type { RefusedCall } from './queries.ts';
import page from '../../ui/page/page.module.css';
import styles from './requests.module.css';

const KINDS: Record<RefusedCall['kind'], string> = {
  call: 'HTTP request',
  upgrade: 'WebSocket, when connecting',
  operation: 'Operation over WebSocket',
  socket: 'WebSocket, closed while open',
};

type CallDetailsProps = {
  call: RefusedCall;
  /** About the limit that refused it; null if none did. */
  advice: string | null;
};

/** What a call's code means, how to fix it, and what is known of the call. */
export function CallDetails({ call, advice }: CallDetailsProps) {
  const { meaning, fix, page: place } = explainCode(call.code);
  return (
    <div className={styles['details']}>
      {meaning !== undefined && (
        <p>
          {meaning} <strong>{fix}</strong> {advice}{' '}
          {place !== null && <Link to={place.to}>{place.label}</Link>}
        </p>
      )}
      <dl className={page['facts']}>
        <Fact name="Request ID">
          <code className={styles['id']}>{call.request_id}</code>
          <CopyButton what="request ID" text={call.request_id} />
        </Fact>
        {call.detail !== null && <Fact name="Message">{call.detail}</Fact>}
        <Fact name="Code">
          <CodeLink code={call.code} />
          {call.status !== null && ` (HTTP ${String(call.status)})`}
        </Fact>
        <Fact name="Time">
          <ExactMoment at={call.at} />
        </Fact>
        <Fact name="Sent by">{KINDS[call.kind]}</Fact>
        {call.operation_name !== null && (
          <Fact name="Operation">
            <code>{call.operation_name}</code>
          </Fact>
        )}
        <Fact name="API version">{call.api_version}</Fact>
        {call.duration_ms !== null && <Fact name="Duration">{formatNumber(call.duration_ms)} ms</Fact>}
        <Fact name="Cost">{costOf(call)}</Fact>
      </dl>
      {call.unrecorded_before > 0 && (
        <p className={page['muted']}>
          {counted(call.unrecorded_before, 'more call')} with this code came just before and{' '}
          {call.unrecorded_before === 1 ? 'was' : 'were'} only counted.
        </p>
      )}
    </div>
  );
}

function costOf({ points, kind }: RefusedCall): string {
  if (points === 0) return 'Not charged';
  if (points === null) return kind === 'call' ? 'Unknown' : 'See your usage';
  return counted(points, 'point');
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd className={styles['fact']}>{children}</dd>
    </>
  );
}
