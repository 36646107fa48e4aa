import type { Platform } from '../platform/open.ts';
import type { ReportedHealth } from './health-report/health-report.ts';

/** What operators look at: the health of an installation, and its audit log. */
export function openOperating({ config, pools, redis }: Pick<Platform, 'config' | 'pools' | 'redis'>): {
  needs: { healthReport: ReportedHealth };
} {
  return {
    needs: {
      healthReport: {
        database: pools.usageChecks,
        redis,
        authPrivateUrl: config.AUTH_PRIVATE_URL,
        publicUrl: config.PUBLIC_URL,
        sealingKeys: config.TOKEN_SEALING_KEYS,
        closingDelaySec: config.CLOSING_DELAY_SEC,
        credentialsWithoutRole: config.OPERATOR_CREDENTIALS.map(({ id }) => id).filter(
          (id) => !config.OPERATOR_CREDENTIAL_ROLES.has(id),
        ),
        stripeKey: config.PAYMENTS === 'none' ? undefined : config.STRIPE_SECRET_KEY,
      },
    },
  };
}
