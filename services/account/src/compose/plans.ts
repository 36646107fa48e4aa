import type { Registry } from 'prom-client';
import type { Logger } from '@tollgate/log';
import { openSignUpPlan } from '../billing/sign-up-plan/sign-up-plan.ts';
import type { Config } from '../config.ts';
import type { Query, Transact } from '../platform/database/query.ts';
import type { DueWatch } from '../platform/background/due-watch.ts';
import type { OwnerNeeds } from '../api/owner.ts';

/** What customers do about their plan without an operator (docs/design/billing.md). */
export function openPlans({
  config,
  ...parts
}: {
  config: Pick<Config, 'SIGN_UP_PLAN' | 'SIGN_UP_PLAN_DAYS' | 'SELF_SERVICE' | 'CONTACT_SALES_URL'>;
  transact: Transact;
  background: { query: Query; transact: Transact };
  dueWatch: DueWatch;
  logger: Logger;
  registry: Registry;
}): { parts: Pick<OwnerNeeds, 'signUpPlan' | 'selfService'>; close: () => Promise<void> } {
  const { SIGN_UP_PLAN: plan, SIGN_UP_PLAN_DAYS: days } = config;
  const signUpPlan = plan === undefined ? null : openSignUpPlan({ ...parts, setting: { plan, days } });
  return {
    parts: {
      signUpPlan,
      selfService: { actions: config.SELF_SERVICE, contactSalesUrl: config.CONTACT_SALES_URL ?? null },
    },
    close: async () => {
      await signUpPlan?.close();
    },
  };
}
