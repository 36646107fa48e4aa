import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { ApiError } from '../../api/client.ts';
import { Button } from '../button.tsx';
import { RetryCountdown } from './retry-countdown.tsx';
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

type ErrorMessageProps = {
  error: unknown;
  onRetry?: () => void;
  /** Whether the request was to change something. */
  isChange?: boolean;
};

/** What happened, for our failures the request id to quote to support, and a way to try again. */
export function ErrorMessage({ error, onRetry, isChange = false }: ErrorMessageProps) {
  const { problem, retryAfterSec, atMs } = error instanceof ApiError ? error : new ApiError(null);
  const message = error instanceof ApiError ? error.message : 'Something went wrong on this page.';
  return (
    <div role="alert" className={styles['error']}>
      <p>{message}</p>
      {problem?.status === 409 && <Conflict />}
      {isChange && (problem === null || problem.status >= 500) && (
        <p>Your change may or may not have been saved. Check before you try again.</p>
      )}
      {retryAfterSec !== null && <RetryCountdown retryAfterSec={retryAfterSec} sinceMs={atMs} />}
      {/* A refusal says itself what to do. */}
      {problem !== null && problem.status >= 500 && (
        <p className={styles['detail']}>
          Request ID: <code>{problem.request_id}</code>
        </p>
      )}
      {onRetry !== undefined && <Button onPress={onRetry}>Try again</Button>}
    </div>
  );
}

/** The change didn't fit what is stored by now, which the page may not show yet. */
function Conflict() {
  const queryClient = useQueryClient();
  return (
    <>
      <p>Nothing was changed.</p>
      <Button onPress={() => void queryClient.invalidateQueries()}>Show the current data</Button>
    </>
  );
}

type BadgeProps = { tone: 'good' | 'warning' | 'danger' | 'neutral'; children: ReactNode };

/** A status in words; its colour only repeats them. */
export function Badge({ tone, children }: BadgeProps) {
  return <span className={`${styles['badge'] ?? ''} ${styles[tone] ?? ''}`}>{children}</span>;
}
