import { useEffect, useEffectEvent, useState } from 'react';
import { formatDuration } from '../format.ts';

const TICK_MS = 1_000;

/** Whole seconds until `waitSec` after `sinceMs`, by the browser's uptime, so no clock matters. */
export function useSecondsLeft(waitSec: number, sinceMs: number): number {
  const [nowMs, setNowMs] = useState(() => performance.now());
  useEffect(() => {
    const timer = setInterval(() => {
      setNowMs(performance.now());
    }, TICK_MS);
    return () => {
      clearInterval(timer);
    };
  }, []);
  return Math.max(Math.ceil(waitSec - (Math.max(nowMs, sinceMs) - sinceMs) / 1_000), 0);
}

type RetryCountdownProps = { retryAfterSec: number; sinceMs: number };

/** How long to wait until trying again makes sense. */
export function RetryCountdown({ retryAfterSec, sinceMs }: RetryCountdownProps) {
  const left = useSecondsLeft(retryAfterSec, sinceMs);
  // Not read out each second.
  return (
    <p role="timer" aria-live="off">
      {left === 0 ? 'You can try again now.' : `Try again in ${formatDuration(left)}.`}
    </p>
  );
}

const WAIT_SEC = { first: 5, max: 60 };

type AutoRetryProps = {
  /** When the latest attempt failed. */
  failedAtMs: number;
  retryAfterSec: number | null;
  onRetry: () => void;
};

/** Tries again by itself, each time after twice as long, and counts down until then. */
export function AutoRetry({ failedAtMs, retryAfterSec, onRetry }: AutoRetryProps) {
  const [seen, setSeen] = useState({ failedAtMs, failures: 0 });
  if (seen.failedAtMs !== failedAtMs) setSeen({ failedAtMs, failures: seen.failures + 1 });
  const waitSec = Math.min(WAIT_SEC.first * 2 ** seen.failures, WAIT_SEC.max);
  const left = useSecondsLeft(Math.max(waitSec, retryAfterSec ?? 0), failedAtMs);
  const isDue = left === 0;
  const retry = useEffectEvent(onRetry);
  useEffect(() => {
    if (isDue) retry();
  }, [isDue, failedAtMs]);
  return (
    <p role="timer" aria-live="off">
      {isDue ? 'Trying again…' : `Trying again in ${formatDuration(left)}.`}
    </p>
  );
}
