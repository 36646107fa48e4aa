import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { ApiError } from '../../api/client.ts';
import { useConnection } from '../../api/connection.ts';
import { Button } from '../button.tsx';
import { AutoRetry, RetryCountdown } from './retry-countdown.tsx';
import { SlowNote } from './slow-note.tsx';
import styles from './states.module.css';

const SKELETON_DELAY_MS = 200;

/** Lines in the final shape, shown only when loading takes long enough to notice. */
export function Skeleton({ rows = 4 }: { rows?: number }) {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => {
      setShown(true);
    }, SKELETON_DELAY_MS);
    return () => {
      clearTimeout(timer);
    };
  }, []);
  return (
    <div role="status" aria-label="Loading" className={styles['skeleton']} data-shown={isShown}>
      {Array.from({ length: rows }, (_, row) => (
        <span key={row} className={styles['line']} />
      ))}
      <SlowNote />
    </div>
  );
}

/** What this list is for, and the one next thing to do. */
export function Empty({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className={styles['empty']}>
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** The API's own words for it, “Internal error”, stand in the details. */
const FAULT = 'Something went wrong on our side.';

type ErrorMessageProps = {
  error: unknown;
  /** For what was to be loaded. */
  onRetry?: () => void;
  /** What that is, as "your applications". */
  what?: string;
  /** Whether the request was to change something. */
  isChange?: boolean;
  /** Without the connection bar, which tries again for the whole page. */
  isAlone?: boolean;
};

/** What happened in plain words, and what follows: it is tried again, or what to do. */
export function ErrorMessage({ error, onRetry, what, isChange = false, isAlone = false }: ErrorMessageProps) {
  const known = error instanceof ApiError ? error : null;
  const { problem, retryAfterSec, atMs } = known ?? new ApiError(null);
  const isFailure = problem === null || problem.status >= 500;
  const message = known?.message ?? 'Something went wrong on this page.';
  const isLoad = isFailure && known !== null && onRetry !== undefined;
  return (
    <div role="alert" className={styles['error']}>
      {isLoad ? (
        <LoadFailed what={what} status={problem?.status} />
      ) : (
        <p>{problem?.status === 500 ? FAULT : message}</p>
      )}
      {problem?.status === 409 && <Conflict />}
      {isChange && isFailure && (
        <p>Your change may or may not have been saved. Check before you try again.</p>
      )}
      {isLoad ? (
        <Retries failedAtMs={atMs} retryAfterSec={retryAfterSec} onRetry={onRetry} isAlone={isAlone} />
      ) : (
        retryAfterSec !== null && <RetryCountdown retryAfterSec={retryAfterSec} sinceMs={atMs} />
      )}
      {onRetry !== undefined && (
        <Button isReading onPress={onRetry}>
          Try again
        </Button>
      )}
      {/* A refusal says itself what to do. */}
      {problem !== null && isFailure && (
        <details className={styles['detail']}>
          <summary>Details</summary>
          <p>{message}</p>
          <p>
            Request ID: <code>{problem.request_id}</code>
          </p>
        </details>
      )}
    </div>
  );
}

/** A single failing request says nothing of the others; of an outage, the page can't know how far it reaches. */
function LoadFailed({ what = 'this', status }: { what: string | undefined; status: number | undefined }) {
  return (
    <p>
      <strong>We couldn’t load {what}.</strong>
      {status === 500 && ' Your API calls aren’t affected.'}
    </p>
  );
}

type RetriesProps = {
  failedAtMs: number;
  retryAfterSec: number | null;
  onRetry: () => void;
  isAlone: boolean;
};

/** During an outage the connection bar tries for all. */
function Retries({ isAlone, ...retry }: RetriesProps) {
  const { state } = useConnection();
  if (state === 'connected' || isAlone) return <AutoRetry {...retry} />;
  return <p>It loads when the connection is back.</p>;
}

/** The change didn't fit what is stored by now, which the page may not show yet. */
function Conflict() {
  const queryClient = useQueryClient();
  return (
    <>
      <p>Nothing was changed.</p>
      <Button isReading onPress={() => void queryClient.invalidateQueries()}>
        Show the current data
      </Button>
    </>
  );
}

type BadgeProps = { tone: 'good' | 'warning' | 'danger' | 'neutral'; children: ReactNode };

/** A status in words; its colour only repeats them. */
export function Badge({ tone, children }: BadgeProps) {
  return <span className={`${styles['badge'] ?? ''} ${styles[tone] ?? ''}`}>{children}</span>;
}
