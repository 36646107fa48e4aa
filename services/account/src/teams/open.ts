import { createWorker } from '../platform/background/worker.ts';
import type { Worker } from '../platform/background/worker.ts';
import type { AttemptCounts } from '../identity/attempts/attempt-counts.ts';
import { createSessionCookie } from '../identity/sessions/session-cookie.ts';
import type { SessionCookie } from '../identity/sessions/session-cookie.ts';
import { createQuery, createTransact } from '../platform/database/query.ts';
import type { Platform } from '../platform/open.ts';
import { createGuardedAgent } from '../platform/outgoing/connector.ts';
import { startDailyChecks } from './domains/daily-checks.ts';
import { createRecordCheck } from './domains/record-check.ts';
import type { CheckRecord } from './domains/record-check.ts';
import { createRelyingParties } from './sso/relying-parties.ts';
import type { RelyingParties } from './sso/relying-parties.ts';

/** Longer than a provider takes to answer: a request also has a limit of its own. */
const CONNECT_TIMEOUT_MS = 5_000;

/** Teams, the domains that they have proven, and their identity providers. */
export function openTeams(
  { config, pools, logger }: Pick<Platform, 'config' | 'pools' | 'logger'>,
  { counts, wakeMails }: { counts: AttemptCounts; wakeMails: () => void },
): {
  needs: { checkRecord: CheckRecord; relyingParties: RelyingParties; ssoCookie: SessionCookie };
  workers: Worker[];
  close: () => Promise<void>;
} {
  const checkRecord = createRecordCheck(config.DNS_SERVERS);
  const checks = createWorker(() =>
    startDailyChecks({
      query: createQuery(pools.mailsAndHousekeeping),
      transact: createTransact(pools.mailsAndHousekeeping),
      counts,
      checkRecord,
      intervalSec: config.HOUSEKEEPING_INTERVAL_SEC,
      wakeMails,
      logger,
    }),
  );
  const allowedHosts = config.TEAM_SSO_ALLOWED_HOSTS;
  const agent = createGuardedAgent({
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    allowsPrivateAddresses: (hostname) => allowedHosts.has(hostname.replace(/^\[(.*)\]$/, '$1')),
    dnsServers: config.WEBHOOK_DNS_SERVERS,
  });
  const publicUrl = config.PUBLIC_URL;
  const relyingParties = createRelyingParties({
    publicUrl,
    allowedHosts,
    agent,
    sealingKeys: config.TOKEN_SEALING_KEYS,
  });
  const secure = config.COOKIE_SECURE ?? publicUrl.startsWith('https:');
  const ssoCookie = createSessionCookie(
    { secure },
    { baseName: 'tollgate_sso', sameSite: 'strict', plainPath: '/api/console/session/sso' },
  );
  return {
    needs: { checkRecord, relyingParties, ssoCookie },
    workers: [checks],
    close: () => agent.close(),
  };
}
