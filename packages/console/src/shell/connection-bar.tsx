import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { api, resultOf } from '../api/client.ts';
import { useConnection } from '../api/connection.ts';
import type { ConnectionState } from '../api/connection.ts';
import { brand } from '../api/brand.ts';
import { formatTime } from '../ui/format.ts';
import styles from './connection-bar.module.css';

const MESSAGES: Record<Exclude<ConnectionState, 'connected'>, string> = {
  offline: 'You are offline.',
  unreachable: `${brand.name} cannot be reached. Trying again.`,
  unavailable: `${brand.name} is temporarily unavailable. Trying again.`,
};

const PROBE_MS = { first: 1_000, max: 10_000 };

/** Says that pages show earlier figures, and from when; goes away by itself. */
export function ConnectionBar() {
  const { state, lastContactMs } = useConnection();
  useProbes(state);
  return (
    <div role="status" className={styles['place']}>
      {state !== 'connected' && (
        <p className={styles['bar']}>
          {MESSAGES[state]}
          {lastContactMs !== null && ` Figures are from ${formatTime(lastContactMs)}.`}
        </p>
      )}
    </div>
  );
}

/** Asks until Tollgate responds again, then refreshes what is on the page. */
function useProbes(state: ConnectionState): void {
  const queryClient = useQueryClient();
  const isProbing = state === 'unreachable' || state === 'unavailable';
  useEffect(() => {
    if (!isProbing) return undefined;
    let delayMs = PROBE_MS.first;
    let timer = setTimeout(() => void probe(), delayMs);
    let isOver = false;
    async function probe() {
      // The response itself changes the state (api/connection.ts).
      await resultOf(api.GET('/api/console/session')).catch(() => undefined);
      delayMs = Math.min(delayMs * 2, PROBE_MS.max);
      if (!isOver) timer = setTimeout(() => void probe(), delayMs);
    }
    return () => {
      isOver = true;
      clearTimeout(timer);
      void queryClient.invalidateQueries();
    };
  }, [isProbing, queryClient]);
}
