import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { ApiError } from '../../api/client.ts';
import { Button } from '../button.tsx';
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
    <div role="status" aria-label="Loading" className={isShown ? styles['skeleton'] : styles['hidden']}>
      {Array.from({ length: rows }, (_, row) => (
        <span key={row} className={styles['line']} />
      ))}
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

type ErrorMessageProps = { error: unknown; onRetry?: () => void };

/** What happened, the request id to quote to support, and a way to try again. */
export function ErrorMessage({ error, onRetry }: ErrorMessageProps) {
  const { problem, retryAfterSec } = error instanceof ApiError ? error : new ApiError(null);
  const message = error instanceof ApiError ? error.message : 'Something went wrong on this page.';
  return (
    <div role="alert" className={styles['error']}>
      <p>{message}</p>
      {retryAfterSec !== null && <p>Try again in {retryAfterSec} s.</p>}
      {problem !== null && (
        <p className={styles['detail']}>
          Request ID: <code>{problem.request_id}</code>
        </p>
      )}
      {onRetry !== undefined && <Button onPress={onRetry}>Try again</Button>}
    </div>
  );
}

type BadgeProps = { tone: 'good' | 'warning' | 'danger' | 'neutral'; children: ReactNode };

/** A status in words; its colour only repeats them. */
export function Badge({ tone, children }: BadgeProps) {
  return <span className={`${styles['badge'] ?? ''} ${styles[tone] ?? ''}`}>{children}</span>;
}
