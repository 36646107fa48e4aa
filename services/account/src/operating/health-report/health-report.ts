import type { Knex } from 'knex';
import { z } from 'zod';
import type { HealthReport } from '@tollgate/contracts/health-report';
import type { RedisConnection } from '@tollgate/redis';
import { VERSION } from '@tollgate/server/version';
import { createQuery } from '../../platform/database/query.ts';
import type { SealingKey } from '../../platform/sealing/sealing.ts';
import { listUnattended } from '../../payments/subscriptions/store.ts';
import { reportPayments } from './payments-report.ts';
import { reportPostgres } from './postgres-report.ts';
import { reportRedis } from './redis-report.ts';
import { reportStreams } from './streams-report.ts';

/** What the report is about, and what it is asked of. */
export type ReportedHealth = {
  database: Knex;
  redis: RedisConnection;
  /** Base URL of auth's private listener. */
  authPrivateUrl: string;
  publicUrl: string;
  sealingKeys: readonly SealingKey[];
  credentialsWithoutRole: readonly string[];
  closingDelaySec: number;
  /** By which operators sign in; undefined without one. */
  operatorIssuer: string | undefined;
  /** Whether they can sign in past it. */
  allowsLocalOperators: boolean;
  /** Undefined if payments are not enabled. */
  stripeKey: string | undefined;
};

const PROBE_TIMEOUT_MS = 2_000;

const liveSchema = z.object({ version: z.string() });

/**
 * What `tollgate doctor` compares (docs/design/operations.md). A part that doesn't answer is null; the report itself
 * never fails.
 */
export async function reportHealth(reported: ReportedHealth): Promise<HealthReport> {
  const { database, redis, authPrivateUrl, publicUrl, stripeKey } = reported;
  const [postgres, redisReport, auth, operator_sign_in] = await Promise.all([
    orNull(reportPostgres(database, reported)),
    orNull(reportRedis(redis)),
    orNull(reportAuth(authPrivateUrl)),
    reportSignIn(reported),
  ]);
  const redisNowMs = Date.now() - (redisReport?.clock_skew_sec ?? 0) * 1_000;
  return {
    reported_at: new Date().toISOString(),
    version: VERSION,
    public_url: publicUrl,
    postgres,
    redis: redisReport,
    auth,
    operator_sign_in,
    credentials_without_role: [...reported.credentialsWithoutRole],
    usage_streams:
      postgres === null || redisReport === null
        ? null
        : await orNull(reportStreams(createQuery(database), redis, redisNowMs)),
    payments:
      postgres === null || stripeKey === undefined
        ? null
        : await orNull(reportPayments(createQuery(database), stripeKey)),
    unattended_subscriptions:
      postgres === null || stripeKey !== undefined
        ? null
        : await orNull(listUnattended(createQuery(database))),
  };
}

async function orNull<T>(reported: Promise<T>): Promise<T | null> {
  return reported.catch(() => null);
}

/** Asked anew: what account has read of the provider holds for an hour. */
async function reportSignIn({
  operatorIssuer: issuer,
  allowsLocalOperators,
}: ReportedHealth): Promise<NonNullable<HealthReport['operator_sign_in']> | null> {
  if (issuer === undefined) return null;
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const is_provider_reachable = await fetch(url, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) }).then(
    async ({ ok, body }) => {
      await body?.cancel();
      return ok;
    },
    () => false,
  );
  return { is_provider_reachable, allows_local: allowsLocalOperators };
}

/** The version is null if auth is older than this report. */
async function reportAuth(baseUrl: string): Promise<NonNullable<HealthReport['auth']>> {
  const probe = (path: string) =>
    fetch(`${baseUrl}${path}`, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) });
  const [live, ready] = await Promise.all([probe('/health/live'), probe('/health/ready')]);
  const { data } = liveSchema.safeParse(await live.json());
  return { version: data?.version ?? null, is_ready: ready.ok };
}
