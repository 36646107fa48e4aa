import { planLimitsSchema } from '@tollgate/contracts/plan-limits';
import type { PrivateApi } from '@tollgate/http/private-api-client';
import type { Logger } from '@tollgate/log';

const RETRY_MS = 10_000;

/**
 * Says once in the log if plans allow a payer more subscriptions than this gateway holds for it over HTTP; asks account
 * again until it answers. Returns what ends that.
 */
export function comparePlanLimits(
  account: Pick<PrivateApi, 'get'>,
  streamsPerPayer: number,
  logger: Pick<Logger, 'warn'>,
): () => void {
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;

  async function compare(): Promise<void> {
    const limits = await account.get('/private/plan-limits', planLimitsSchema);
    const subscription_limit = limits?.subscription_limit ?? 0;
    if (subscription_limit <= streamsPerPayer) return;
    logger.warn(
      { subscription_limit, streams_per_payer: streamsPerPayer },
      'a plan allows more subscriptions than this gateway holds for a payer over HTTP: raise UPSTREAM_STREAMS_PER_PAYER, or spread payers over gateways',
    );
  }

  function start(): void {
    compare().catch(() => {
      if (!isOver) timer = setTimeout(start, RETRY_MS).unref();
    });
  }

  start();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
