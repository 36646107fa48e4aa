import { createWorker } from '../platform/background/worker.ts';
import type { Worker } from '../platform/background/worker.ts';
import { createQuery, createTransact } from '../platform/database/query.ts';
import type { Platform } from '../platform/open.ts';
import { createOutboxMetrics } from '../platform/outbox/metrics.ts';
import { createAuditSink } from './audit-stream/sink.ts';
import { AUDIT_STREAM_METRICS, startAuditStream } from './audit-stream/stream.ts';
import type { ReportedHealth } from './health-report/health-report.ts';

/** Of one message to the sink of the audit log. */
const ATTEMPT_TIMEOUT_MS = 10_000;

/** What operators look at: the health of an installation, and its audit log. */
export function openOperating({
  config,
  pools,
  redis,
  logger,
  registry,
}: Pick<Platform, 'config' | 'pools' | 'redis' | 'logger' | 'registry'>): {
  needs: { healthReport: ReportedHealth };
  workers: Worker[];
} {
  const { AUDIT_STREAM_URL: url, AUDIT_STREAM_SECRET: secrets = [] } = config;
  const stream = createWorker(({ dueWatch }) => {
    const metrics = createOutboxMetrics(registry, AUDIT_STREAM_METRICS);
    if (url === undefined) return { close: () => Promise.resolve() };
    const attemptTimeoutMs = ATTEMPT_TIMEOUT_MS;
    return startAuditStream({
      query: createQuery(pools.mailsAndHousekeeping),
      transact: createTransact(pools.mailsAndHousekeeping),
      sink: createAuditSink({ url, secrets, attemptTimeoutMs }),
      attemptTimeoutMs,
      dueWatch,
      logger,
      metrics,
    });
  });
  return {
    workers: [stream],
    needs: {
      healthReport: {
        database: pools.usageChecks,
        redis,
        authPrivateUrl: config.AUTH_PRIVATE_URL,
        publicUrl: config.PUBLIC_URL,
        sealingKeys: config.TOKEN_SEALING_KEYS,
        closingDelaySec: config.CLOSING_DELAY_SEC,
        operatorIssuer: config.OPERATORS_OIDC_ISSUER,
        allowsLocalOperators: config.OPERATORS_LOCAL,
        credentialsWithoutRole: config.OPERATOR_CREDENTIALS.map(({ id }) => id).filter(
          (id) => !config.OPERATOR_CREDENTIAL_ROLES.has(id),
        ),
        stripeKey: config.PAYMENTS === 'none' ? undefined : config.STRIPE_SECRET_KEY,
      },
    },
  };
}
