import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import type { Logger } from '@tollgate/log';
import type { BackgroundLoop } from '@tollgate/server/background-loop';
import type { SignUpPlan } from '../../identity/people/people.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import type { DueWatch } from '../../platform/background/due-watch.ts';
import { takeNext } from '../../platform/background/take-next.ts';
import { startWorkLoop } from '../../platform/background/work-loop.ts';
import { enforcedLimits } from '../periods/limits.ts';
import { RETRY_SEC, settle } from './settle.ts';
import type { SignUpPlanSetting } from './settle.ts';
import { SIGN_UPS_PENDING, findOfferedPlan, putOff, recordSignUp, takePending } from './store.ts';

type Background = {
  setting: SignUpPlanSetting;
  query: Query;
  transact: Transact;
  logger: Pick<Logger, 'info' | 'warn' | 'error'>;
};

/** Starts the plan of SIGN_UP_PLAN for an account that signs up. */
export function createSignUpPlan({
  setting,
  transact,
  logger,
}: {
  setting: SignUpPlanSetting;
  transact: Transact;
  logger: Pick<Logger, 'warn'>;
}): SignUpPlan {
  return {
    offer: async (query) => {
      const plan = await findOfferedPlan(query, setting.plan);
      if (plan === undefined) return null;
      const { points_limit } = enforcedLimits({ ...plan, team_slots_limit: null });
      return { plan_name: plan.name, points_limit, days: setting.days === 0 ? null : setting.days };
    },
    record: recordSignUp,
    start: async (accountId) => {
      try {
        await transact(async (query) => {
          const taken = await takePending(query, accountId);
          if (taken !== undefined) await settle(query, setting, taken);
        });
      } catch (error) {
        logger.warn({ err: error, account_id: accountId }, 'the sign-up plan could not be started; retrying');
      }
    },
  };
}

/** Starts the plans that could not be started at the sign-up, or have to wait. Every replica may run it. */
export function startSignUpPlans(
  options: Background & { dueWatch: DueWatch; registry: Registry },
): BackgroundLoop {
  const { dueWatch, logger } = options;
  const checkPlan = planCheck(options);
  return startWorkLoop({
    work: async (signal) => {
      await checkPlan();
      let isMore = true;
      while (isMore && !signal.aborted) isMore = await settleOne(options);
    },
    messages: {
      failed: 'plans of accounts that signed up cannot be started; retrying',
      recovered: 'plans of accounts that signed up are being started again',
    },
    due: { dueWatch, condition: SIGN_UPS_PENDING },
    // A wrong setting is logged.
    worksAtStart: true,
    logger,
  });
}

/** False if nothing is pending. */
function settleOne({ setting, query, transact, logger }: Background): Promise<boolean> {
  return takeNext(transact, {
    take: (inside) => takePending(inside, null),
    work: (inside, accountId) => settle(inside, setting, accountId),
    onFailed: async (accountId, error) => {
      logger.error({ err: error, account_id: accountId }, 'the sign-up plan could not be started');
      await putOff(query, accountId, RETRY_SEC);
    },
  });
}

/**
 * Reports a plan that doesn't exist, at the start and when that changes. Readiness doesn't fail: operators create the
 * plan through this service.
 */
function planCheck({
  setting,
  query,
  logger,
  registry,
}: Omit<Background, 'transact'> & { registry: Registry }): () => Promise<void> {
  const missing = new Gauge({
    name: 'tollgate_sign_up_plan_missing',
    help: '1 if the plan of SIGN_UP_PLAN does not exist or is archived, else 0',
    registers: [registry],
  });
  let wasMissing = false;
  let nextMs = 0;
  return async () => {
    if (performance.now() < nextMs) return;
    const isMissing = (await findOfferedPlan(query, setting.plan)) === undefined;
    nextMs = performance.now() + RETRY_SEC * 1_000;
    missing.set(isMissing ? 1 : 0);
    if (isMissing && !wasMissing) {
      logger.error(
        { sign_up_plan: setting.plan },
        'the plan of SIGN_UP_PLAN does not exist or is archived; accounts that sign up wait for it',
      );
    } else if (!isMissing && wasMissing) {
      logger.info({ sign_up_plan: setting.plan }, 'the plan of SIGN_UP_PLAN is there');
    }
    wasMissing = isMissing;
  };
}
