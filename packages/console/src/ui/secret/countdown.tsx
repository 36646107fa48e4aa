import { useEffect, useState } from 'react';
import { serverNowMs } from '../../api/server-clock.ts';
import { formatTimeLeft, momentTitle } from '../format.ts';

type CountdownProps = { until: string; onEnd?: () => void };

const TICK_MS = 1_000;

/** The time that is left, in at most two units; exact on hover. */
export function Countdown({ until, onEnd }: CountdownProps) {
  const [nowMs, setNowMs] = useState(() => serverNowMs());
  const leftSec = Math.max(Math.ceil((new Date(until).getTime() - nowMs) / 1_000), 0);
  const isOver = leftSec === 0;
  useEffect(() => {
    if (isOver) {
      onEnd?.();
      return;
    }
    const timer = setInterval(() => {
      setNowMs(serverNowMs());
    }, TICK_MS);
    return () => {
      clearInterval(timer);
    };
  }, [isOver, onEnd]);
  return (
    <time dateTime={until} title={momentTitle(until)} role="timer">
      {formatTimeLeft(leftSec)}
    </time>
  );
}
