import { createWorker } from '../platform/background/worker.ts';
import type { Worker } from '../platform/background/worker.ts';
import { createQuery, createSnapshot, createTransact } from '../platform/database/query.ts';
import type { Transact } from '../platform/database/query.ts';
import type { Platform } from '../platform/open.ts';
import type { OveruseMode } from './credits/settlement.ts';
import { summarizeAccount } from './entitlements/account-summary.ts';
import { createKeptAnswers } from './entitlements/kept-answers.ts';
import type { KeptAnswers } from './entitlements/kept-answers.ts';
import {
  announceEntitlements,
  createPublisherMetrics,
  startEntitlementPublisher,
} from './entitlements/publisher.ts';
import { createRefuseBlocked } from './entitlements/refuse-blocked.ts';
import type { BlockedNeeds } from './entitlements/refuse-blocked.ts';
import { createSignUpPlan, startSignUpPlans } from './sign-up-plan/sign-up-plan.ts';
import { createRenewalMetrics, startRenewals } from './subscriptions/scheduler.ts';

/** Plans, subscriptions, billing periods, and what accounts may call. */
export function openBilling(platform: Platform): {
  needs: BlockedNeeds & {
    keptAnswers: KeptAnswers;
    announceEntitlements: (accountIds: readonly number[]) => Promise<void>;
    redisNowMs: () => number;
    creditChecks: Transact;
    overuseMode: OveruseMode;
    /** The Plan page, which sells packs; null without payments. */
    buyUrl: string | null;
    summarizeAccount: typeof summarizeAccount;
    /** Null without SIGN_UP_PLAN. */
    signUpPlan: ReturnType<typeof createSignUpPlan> | null;
    /** The setting SIGN_UP_PLAN, a name or an id. */
    signUpPlanSetting: string | null;
  };
  workers: Worker[];
} {
  const { config, pools, query, transact, redis, redisNowMs, logger, registry } = platform;
  const keptAnswers = createKeptAnswers(redis, registry);
  const publisher = createWorker(({ dueWatch, notices }) =>
    startEntitlementPublisher({
      database: pools.entitlementEvents,
      notices,
      redis,
      dueWatch,
      keptAnswers,
      logger,
      metrics: createPublisherMetrics(registry),
    }),
  );
  const renewals = createWorker(({ dueWatch }) =>
    startRenewals({
      query: createQuery(pools.renewals),
      transact: createTransact(pools.renewals),
      paymentGraceSec: config.PAYMENTS === 'none' ? null : config.PAYMENT_GRACE_SEC,
      dueWatch,
      logger,
      metrics: createRenewalMetrics(registry),
    }),
  );
  const { SIGN_UP_PLAN: plan, SIGN_UP_PLAN_DAYS: days } = config;
  const setting = plan === undefined ? null : { plan, days };
  const signUpPlans =
    setting === null
      ? []
      : [
          createWorker(({ dueWatch }) => {
            const database = pools.mailsAndHousekeeping;
            const stores = { query: createQuery(database), transact: createTransact(database) };
            return startSignUpPlans({ ...stores, setting, dueWatch, logger, registry });
          }),
        ];
  return {
    needs: {
      keptAnswers,
      announceEntitlements: (accountIds) => announceEntitlements(query, { redis, keptAnswers }, accountIds),
      redisNowMs,
      creditChecks: createSnapshot(pools.usageChecks),
      overuseMode: config.CREDITS_OVERUSE,
      buyUrl: config.PAYMENTS === 'none' ? null : new URL('/user/plan', config.PUBLIC_URL).href,
      refuseBlocked: createRefuseBlocked(query),
      summarizeAccount,
      signUpPlanSetting: plan ?? null,
      signUpPlan: setting === null ? null : createSignUpPlan({ setting, transact, logger }),
    },
    workers: [publisher, renewals, ...signUpPlans],
  };
}
