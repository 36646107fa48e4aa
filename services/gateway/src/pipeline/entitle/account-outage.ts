import type { Logger } from '@tollgate/log';

const PROBE_MIN_MS = 250;
const PROBE_MAX_MS = 5_000;

/** An account whose request always fails must not fill the log. */
const LOG_INTERVAL_MS = 60_000;

/** Whether account answers, by the last request for any entitlement. */
export type AccountOutage = {
  isOn: () => boolean;
  /** A request failed, or wasn't answered in time. */
  failed: (error: unknown) => void;
  answered: () => void;
  /** Whether to ask an unavailable account again now; backs off each time. */
  takeProbe: (nowMs: number) => boolean;
  servedStale: () => void;
};

export function createAccountOutage(logger: Pick<Logger, 'warn' | 'info'>): AccountOutage {
  let on = false;
  let lastError: unknown;
  let probeAtMs = 0;
  let backoffMs = PROBE_MIN_MS;
  let loggedAtMs = -Infinity;
  let logged = false;
  return {
    isOn: () => on,
    failed: (error) => {
      lastError = error;
      if (on) return;
      on = true;
      backoffMs = PROBE_MIN_MS;
      probeAtMs = performance.now() + backoffMs;
    },
    answered: () => {
      on = false;
      if (logged) logger.info('account answers again; entitlements are looked up');
      logged = false;
    },
    takeProbe: (nowMs) => {
      if (nowMs < probeAtMs) return false;
      backoffMs = Math.min(backoffMs * 2, PROBE_MAX_MS);
      probeAtMs = nowMs + backoffMs;
      return true;
    },
    servedStale: () => {
      const nowMs = performance.now();
      if (logged || nowMs - loggedAtMs < LOG_INTERVAL_MS) return;
      logged = true;
      loggedAtMs = nowMs;
      logger.warn({ err: lastError }, 'account is unavailable; known entitlements are served meanwhile');
    },
  };
}
