import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { api, resultOf } from '../api/client.ts';
import { useConnection } from '../api/connection.ts';
import type { ConnectionState } from '../api/connection.ts';
import { brand } from '../api/brand.ts';
import { formatDuration, formatTime } from '../ui/format.ts';
import { useSecondsLeft } from '../ui/page/retry-countdown.tsx';
import styles from './connection-bar.module.css';

const MESSAGES: Record<Exclude<ConnectionState, 'connected'>, string> = {
  offline: 'You are offline.',
  unreachable: `${brand.name} cannot be reached.`,
  unavailable: `${brand.name} is temporarily unavailable.`,
};

const PROBE_MS = { first: 1_000, max: 10_000 };

const NEWS_MS = 5_000;

/** Says that pages show earlier figures, from when, and when it tries again; then that the connection is back. */
export function ConnectionBar() {
  const { state, lastContactMs } = useConnection();
  const next = useProbes(state);
  const isBack = useIsBack(state);
  return (
    <div role="status" className={styles['place']}>
      {state !== 'connected' && (
        <p className={styles['bar']}>
          {MESSAGES[state]}
          {next !== null && <NextProbe key={next.atMs} {...next} />}
          {lastContactMs !== null && ` Figures are from ${formatTime(lastContactMs)}.`}
        </p>
      )}
      {isBack && <p className={styles['bar']}>Connected again. Figures are up to date.</p>}
    </div>
  );
}

type Probe = { atMs: number; waitSec: number };

/** Not read out each second. */
function NextProbe({ atMs, waitSec }: Probe) {
  const left = useSecondsLeft(waitSec, atMs);
  return (
    <span role="timer" aria-live="off">
      {left === 0 ? ' Trying again.' : ` Trying again in ${formatDuration(left)}.`}
    </span>
  );
}

/** Whether the connection has come back a moment ago. */
function useIsBack(state: ConnectionState): boolean {
  const [was, setWas] = useState(state);
  const [isBack, setBack] = useState(false);
  if (was !== state) {
    setWas(state);
    setBack(state === 'connected');
  }
  useEffect(() => {
    if (!isBack) return undefined;
    const timer = setTimeout(() => {
      setBack(false);
    }, NEWS_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [isBack]);
  return isBack;
}

/** Asks until Tollgate responds again, then refreshes what is on the page. Returns when it asks next. */
function useProbes(state: ConnectionState): Probe | null {
  const queryClient = useQueryClient();
  const [next, setNext] = useState<Probe | null>(null);
  const isProbing = state === 'unreachable' || state === 'unavailable';
  useEffect(() => {
    if (!isProbing) return undefined;
    let delayMs = PROBE_MS.first;
    let isOver = false;
    let timer: ReturnType<typeof setTimeout>;
    function schedule() {
      setNext({ atMs: performance.now(), waitSec: delayMs / 1_000 });
      timer = setTimeout(() => void probe(), delayMs);
    }
    async function probe() {
      // The response itself changes the state (api/connection.ts).
      await resultOf(api.GET('/api/console/session')).catch(() => undefined);
      delayMs = Math.min(delayMs * 2, PROBE_MS.max);
      if (!isOver) schedule();
    }
    schedule();
    return () => {
      isOver = true;
      clearTimeout(timer);
      setNext(null);
      void queryClient.invalidateQueries();
    };
  }, [isProbing, queryClient]);
  return next;
}
