import type { CallRules, Entitlement } from '@tollgate/contracts/entitlement';
import { usageShard } from '@tollgate/contracts/usage-stream';
import { callerBudgets } from '../../ledger/budgets.ts';
import { payerCredits } from '../../ledger/credits.ts';
import type { PayerEntitlement } from '../../ledger/principal.ts';

/** account's answer, and how long it may be used; both moments are of performance.now(). */
export type KnownEntitlement = {
  entitlement: Entitlement;
  /** Null if calls are refused. One object while it is kept: admissions are gathered by it. */
  payer: PayerEntitlement | null;
  /** For calls of the account's applications that have a budget, or are limited to their documents. */
  payerByApplication: ReadonlyMap<number, PayerEntitlement>;
  freshUntilMs: number;
  staleUntilMs: number;
};

/** Brief, so that a new payment takes effect at once. Refusals are never served stale: callers take them as final. */
const REFUSAL_TTL_MS = 1_000;

/** Whose points are strict: no payer's, as the plan says, or those of all plans that don't deny it. */
export type StrictPoints = 'off' | 'plan' | 'all';

export type EntitlementRules = {
  cacheTtlMs: number;
  staleIfErrorMs: number;
  strictPoints: StrictPoints;
  /** Whether calls are read, so that what plans say of single calls can hold. */
  readsCalls: boolean;
};

/** `startedMs`: when account read Postgres at the latest (performance.now()), so that no way of the answer prolongs it. */
export function knownEntitlement(
  entitlement: Entitlement,
  startedMs: number,
  rules: EntitlementRules,
): KnownEntitlement {
  const { cacheTtlMs, staleIfErrorMs } = rules;
  const passes = entitlement.status === 'active' || entitlement.status === 'grace';
  const freshForMs = passes ? cacheTtlMs : Math.min(cacheTtlMs, REFUSAL_TTL_MS);
  const staleForMs = passes ? Math.max(freshForMs, staleIfErrorMs) : freshForMs;
  const payer = payerOf(entitlement, rules);
  const endMs = startedMs + (entitlement.valid_for_ms ?? Infinity);
  return {
    entitlement,
    payer,
    payerByApplication: payer === null ? NONE : payersOfApplications(payer, entitlement, rules),
    freshUntilMs: Math.min(startedMs + freshForMs, endMs),
    staleUntilMs: Math.min(startedMs + staleForMs, endMs),
  };
}

const NONE: ReadonlyMap<number, PayerEntitlement> = new Map();

function payersOfApplications(
  payer: PayerEntitlement,
  { account_id: accountId, billing_period, limited_applications }: Entitlement,
  { strictPoints, readsCalls }: EntitlementRules,
): ReadonlyMap<number, PayerEntitlement> {
  const { budgets } = billing_period ?? {};
  const limited = (readsCalls ? limited_applications : undefined) ?? [];
  const limits = new Map(
    limited.map(({ application_id: applicationId, documents_revision: revision }) => [
      applicationId,
      { applicationId, revision },
    ]),
  );
  const withBudgets = budgets?.applications?.map(({ application_id }) => application_id) ?? [];
  if (limits.size + withBudgets.length === 0) return NONE;
  return new Map(
    [...withBudgets, ...limits.keys()].map((applicationId) => {
      const own = budgets === undefined ? null : callerBudgets(budgets, { accountId, applicationId });
      const documentLimit = limits.get(applicationId) ?? null;
      return [applicationId, strict({ ...payer, budgets: own, documentLimit }, strictPoints)];
    }),
  );
}

function payerOf(
  { status, account_id, payer_id, billing_period }: Entitlement,
  { strictPoints, readsCalls }: EntitlementRules,
): PayerEntitlement | null {
  if ((status !== 'active' && status !== 'grace') || billing_period === null) return null;
  const payer = {
    payerId: payer_id,
    periodId: billing_period.period_id,
    lane: billing_period.usage_lane ?? usageShard(payer_id),
    billingStatus: status,
    endedAt: billing_period.ended_at,
    limits: billing_period.limits,
    credits: billing_period.credits === undefined ? null : payerCredits(billing_period.credits),
    budgets:
      billing_period.budgets === undefined
        ? null
        : callerBudgets(billing_period.budgets, { accountId: account_id, applicationId: null }),
    callRules: callRulesOf(billing_period.call_rules, readsCalls),
    reservesPoints: false,
    buyUrl: billing_period.buy_url ?? null,
    documentLimit: null,
  };
  return strict(payer, strictPoints);
}

/** What calls must be read for doesn't hold where they aren't; the documents of MCP are always read. */
function callRulesOf(rules: CallRules | undefined, readsCalls: boolean): CallRules | null {
  if (rules === undefined) return null;
  if (readsCalls) return rules;
  const { mcp, mcp_mutations } = rules;
  return { ...(mcp !== undefined && { mcp }), ...(mcp_mutations !== undefined && { mcp_mutations }) };
}

function strict(payer: PayerEntitlement, strictPoints: StrictPoints): PayerEntitlement {
  const isLimited = payer.limits.points_limit !== null || payer.budgets !== null;
  return { ...payer, reservesPoints: isLimited && isStrict(payer.callRules, strictPoints) };
}

function isStrict(rules: CallRules | null, strictPoints: StrictPoints): boolean {
  if (strictPoints === 'off') return false;
  return rules?.strict_points ?? strictPoints === 'all';
}
