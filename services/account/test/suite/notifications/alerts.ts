import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import type { RedisConnection } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';
import { startServiceProcess } from '@tollgate/testbed/service-process';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import type { Owner } from '../console.ts';
import { operatorCredentials } from '../operator.ts';
import { mailsTo, startPeople } from '../people.ts';
import type { PeopleUnderTest } from '../people.ts';
import { appendBatch, usageEvent } from '../usage/usage-streams.ts';

/** Two replicas, either of which may notice a passed threshold, and the gateways' Redis. */
export type AlertsUnderTest = PeopleUnderTest & { replica: ServiceProcess; redis: RedisConnection };

export async function startAlerts(): Promise<AlertsUnderTest> {
  const people = await startPeople({
    OPERATOR_CREDENTIALS: operatorCredentials,
    WEBHOOK_ALLOW_HTTP: 'true',
    WEBHOOK_ALLOW_PRIVATE_ADDRESSES: 'true',
    MAIL_REQUESTS_PER_ADDRESS: '1000',
  });
  const replica = await startServiceProcess('account', people.settings);
  const redis = openRedis(people.settings['REDIS_URL'] ?? '', createLogger('suite', 'silent'));
  return {
    ...people,
    replica,
    redis,
    close: async () => {
      redis.disconnect();
      await replica.stop();
      await people.close();
    },
  };
}

export async function use(
  { redis }: Pick<AlertsUnderTest, 'redis'>,
  { account_id }: Pick<Owner, 'account_id'>,
  period_id: number,
  used: Partial<ReturnType<typeof usageEvent>>,
): Promise<void> {
  const unused = { points: 0, traffic_bytes: 0 };
  await appendBatch(redis, [usageEvent({ payer_id: account_id, account_id, period_id, ...unused, ...used })]);
}

type AlertRow = { limit_name: string; share: number; used: number; limit_value: number };

export async function alertsOf(
  { database }: Pick<AlertsUnderTest, 'database'>,
  period_id: number,
): Promise<AlertRow[]> {
  return database('usage_alerts')
    .where({ period_id })
    .orderBy(['limit_name', 'share'])
    .select<AlertRow[]>('limit_name', 'share', 'used', 'limit_value');
}

/** Waits until no check is due. */
export async function allChecked({ database }: Pick<AlertsUnderTest, 'database'>): Promise<void> {
  await waitFor(async () => {
    const due = await database('usage_alert_checks').whereRaw('due_at <= clock_timestamp()');
    return due.length === 0;
  });
}

/** Oldest first. */
export function subjectsTo(
  { mailDirectory }: Pick<AlertsUnderTest, 'mailDirectory'>,
  { email }: Pick<Owner, 'email'>,
): string[] {
  return mailsTo(mailDirectory, email).map(({ subject }) => subject);
}
