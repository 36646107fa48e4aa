import { useEffect, useState } from 'react';
import { formatDuration } from '../format.ts';

const TICK_MS = 1_000;

/** How long to wait until trying again makes sense. Counts by the browser's uptime, so no clock matters. */
export function RetryCountdown({ retryAfterSec, sinceMs }: { retryAfterSec: number; sinceMs: number }) {
  const leftSec = () => Math.max(Math.ceil(retryAfterSec - (performance.now() - sinceMs) / 1_000), 0);
  const [left, setLeft] = useState(leftSec);
  useEffect(() => {
    const timer = setInterval(() => {
      setLeft(leftSec());
    }, TICK_MS);
    return () => {
      clearInterval(timer);
    };
  });
  // Not read out each second.
  return (
    <p role="timer" aria-live="off">
      {left === 0 ? 'You can try again now.' : `Try again in ${formatDuration(left)}.`}
    </p>
  );
}
