import type { HealthReport } from '../health-report.ts';
import { certificateFinding } from './certificate.ts';
import { ok, orOk, problem, skipped, warning } from './finding.ts';
import type { Finding } from './finding.ts';
import { checkPayments } from './payments.ts';
import { checkMigrations, checkSchema } from './schema.ts';

const MAX_SKEW_SEC = 1;
const MAX_OUTBOX_AGE_SEC = 300;
const MAX_STREAM_AGE_SEC = 60;
const MAX_STEP_AGE_SEC = 1_800;

/** What account's report says (docs/design/operations.md), for `tollgate doctor` and the operators' console. */
export function checkReport(report: HealthReport): Finding[] {
  const { postgres, redis } = report;
  return [
    ...checkReachable(report),
    ...(postgres === null
      ? []
      : [
          checkSchema(report),
          ...checkMigrations(postgres),
          ...checkSettings(postgres),
          checkWrites(postgres),
          ...checkOutboxes(postgres),
          ...checkSealing(postgres),
          ...checkCredits(postgres),
        ]),
    ...(redis === null ? [] : redis.servers.flatMap(checkRedisServer)),
    ...checkRoles(report),
    ...checkSignIn(report),
    ...checkClocks(report),
    ...checkStreams(report),
    ...checkPayments(report),
    ...checkStoreCertificates(report),
  ];
}

function checkReachable({ postgres, redis, auth }: HealthReport): readonly Finding[] {
  const away = (name: string, setting: string) =>
    problem('reachable', `account can't reach ${name}.`, `Start ${name}, or correct account's ${setting}.`);
  return orOk(
    'reachable',
    [
      ...(postgres === null ? [away('Postgres', 'DATABASE_URL')] : []),
      ...(redis === null ? [away('Redis', 'REDIS_URL')] : []),
      ...(auth === null ? [away('auth', 'AUTH_PRIVATE_URL')] : []),
      ...(auth?.is_ready === false
        ? [problem('reachable', 'auth is not ready.', "See auth's /health/ready and its log.")]
        : []),
    ],
    'account reaches Postgres, Redis and auth.',
  );
}

type Postgres = NonNullable<HealthReport['postgres']>;

function checkSettings({ setting_faults }: Postgres): readonly Finding[] {
  const check = 'Postgres settings';
  return orOk(
    check,
    setting_faults.map(({ name, value, expected }) =>
      problem(
        check,
        `${name} is ${value} on account's connections, instead of ${expected}.`,
        name === 'server_encoding'
          ? 'Create the database with ENCODING UTF8, and restore its data there.'
          : 'Have the connection pooler pass startup options on, or connect to Postgres without it.',
      ),
    ),
    "account's connections have the settings that it relies on.",
  );
}

function checkWrites({ is_read_only }: Postgres): Finding {
  const check = 'Postgres writes';
  if (!is_read_only) return ok(check, 'Postgres takes writes.');
  const found = 'Postgres takes no writes: it is a standby, or default_transaction_read_only is on.';
  return problem(check, found, "Promote it, or correct account's DATABASE_URL.");
}

function checkOutboxes({ outboxes }: Postgres): readonly Finding[] {
  const old = outboxes.filter(({ oldest_age_sec }) => oldest_age_sec > MAX_OUTBOX_AGE_SEC);
  return orOk(
    'outboxes',
    old.map(({ table, pending, oldest_age_sec }) =>
      problem(
        'outboxes',
        `${table} has ${String(pending)} row(s); the oldest is ${String(Math.round(oldest_age_sec))} s old.`,
        "See account's log for why they can't be delivered.",
      ),
    ),
    'No row waits for delivery.',
  );
}

function checkSealing({ sealed_secrets }: Postgres): readonly Finding[] {
  const count = (row: Postgres['sealed_secrets'][number]) =>
    `${String(row.secrets)} secret(s) in ${row.table} are sealed under the key ${row.sealing_key_id}`;
  return orOk(
    'sealing keys',
    sealed_secrets.flatMap((row) => {
      if (row.key === 'first') return [];
      return row.key === 'older'
        ? warning(
            'sealing keys',
            `${count(row)}, which is no longer the first.`,
            'Run node /app/reseal.mjs, then remove the key from TOKEN_SEALING_KEYS.',
          )
        : problem(
            'sealing keys',
            `${count(row)}, which is not in TOKEN_SEALING_KEYS.`,
            'Put the key back behind the first one, then run node /app/reseal.mjs.',
          );
    }),
    'All secrets are sealed under the first key.',
  );
}

function checkCredits({ closing }: Postgres): readonly Finding[] {
  const check = 'credits';
  if (closing === null) return [skipped(check, 'Migrations are not applied.')];
  const { stopped_at, oldest_due_sec, differing_accounts } = closing;
  const [first] = differing_accounts;
  return orOk(
    check,
    [
      ...(stopped_at === null
        ? []
        : [
            problem(
              check,
              `Postgres was restored from a backup; since ${stopped_at} usage isn't settled with credits.`,
              'Run tollgate usage repair --restored.',
            ),
          ]),
      ...(stopped_at === null && oldest_due_sec > MAX_STEP_AGE_SEC
        ? [
            problem(
              check,
              `Usage isn't settled with credits: the oldest step has been due for ${String(Math.round(oldest_due_sec))} s.`,
              'See TollgateClosingOverdue in the runbook.',
            ),
          ]
        : []),
      ...(first === undefined
        ? []
        : [
            warning(
              check,
              `The credits of these accounts differ from their movements: ${differing_accounts.join(', ')}.`,
              `Run tollgate credits check --account ${String(first)}.`,
            ),
          ]),
    ],
    'Usage is settled with credits, and no difference was found.',
  );
}

type RedisServer = NonNullable<HealthReport['redis']>['servers'][number];

function checkRedisServer(server: RedisServer): Finding[] {
  const { address, eviction_policy, appendonly, appendfsync } = server;
  const set = (line: string) => `Set ${line} in its redis.conf.`;
  const unknown = (check: string, what: string) =>
    skipped(check, `Redis at ${address} doesn't tell its ${what}.`);
  const eviction =
    eviction_policy === null
      ? unknown('Redis eviction', 'maxmemory-policy')
      : eviction_policy === 'noeviction'
        ? ok('Redis eviction', `Redis at ${address} evicts nothing.`)
        : problem(
            'Redis eviction',
            `Redis at ${address} may evict tokens and usage: maxmemory-policy is ${eviction_policy}.`,
            set('maxmemory-policy noeviction'),
          );
  return [checkRole(), eviction, checkPersistence()];

  function checkRole(): Finding {
    const check = 'Redis role';
    if (server.role === null) return unknown(check, 'role');
    if (server.role === 'master') return ok(check, `Redis at ${address} is a master.`);
    const found = `Redis at ${address} takes no writes: its role is ${server.role}.`;
    return problem(check, found, 'Correct REDIS_URL: it must lead to the master.');
  }

  function checkPersistence(): Finding {
    const check = 'Redis persistence';
    if (appendonly === null) return unknown(check, 'persistence');
    if (!appendonly) {
      const found = `Redis at ${address} loses uncounted usage when it restarts: appendonly is off.`;
      return problem(check, found, set('appendonly yes'));
    }
    if (appendfsync === null) return unknown(check, 'appendfsync');
    if (appendfsync === 'always') return ok(check, `Redis at ${address} keeps every acknowledged write.`);
    const found = `Redis at ${address} can lose acknowledged usage in a crash: appendfsync is ${appendfsync}.`;
    return warning(check, found, set('appendfsync always'));
  }
}

function checkRoles({ credentials_without_role: ids }: HealthReport): readonly Finding[] {
  // An older account doesn't tell.
  if (ids === undefined) return [];
  const found =
    ids.length === 0
      ? "Every operator's credential has a role."
      : `Without a role in OPERATOR_CREDENTIAL_ROLES, so admins: ${ids.join(', ')}.`;
  return [ok('roles', found)];
}

function checkSignIn({ operator_sign_in: signIn }: HealthReport): readonly Finding[] {
  const check = "operators' sign-in";
  if (signIn === undefined || signIn === null) return [];
  const { is_provider_reachable, allows_local } = signIn;
  if (is_provider_reachable) return [ok(check, "The operators' identity provider answers.")];
  return [
    allows_local
      ? warning(
          check,
          "The operators' identity provider doesn't answer. Only operators who have a passkey can sign in.",
          "See The operators' identity provider is down in the runbook.",
        )
      : problem(
          check,
          "No operator can sign in: their identity provider doesn't answer, and OPERATORS_LOCAL is false.",
          'Set OPERATORS_LOCAL to true, and restart account.',
        ),
  ];
}

function checkClocks({ postgres, redis }: HealthReport): readonly Finding[] {
  const skews = [
    ['Postgres', postgres?.clock_skew_sec ?? 0],
    ['Redis', redis?.clock_skew_sec ?? 0],
  ] as const;
  const apart = skews.filter(([, skewSec]) => Math.abs(skewSec) > MAX_SKEW_SEC);
  return orOk(
    'clocks',
    apart.map(([name, skewSec]) =>
      problem(
        'clocks',
        `account's clock is ${Math.abs(skewSec).toFixed(1)} s ${skewSec > 0 ? 'ahead of' : 'behind'} ${name}'s.`,
        'Synchronize the clocks with NTP.',
      ),
    ),
    "account's clock agrees with those of Postgres and Redis.",
  );
}

function checkStreams({ usage_streams: streams }: HealthReport): readonly Finding[] {
  const check = 'usage streams';
  if (streams === null) return [skipped(check, 'They can be read only with Postgres and Redis.')];
  const { oldest_age_sec, behind, gaps_of_30_days } = streams;
  return orOk(
    check,
    [
      ...(oldest_age_sec <= MAX_STREAM_AGE_SEC
        ? []
        : [
            problem(
              check,
              `The oldest uncounted usage is ${String(Math.round(oldest_age_sec))} s old.`,
              "See account's log for why it isn't counted; run tollgate usage repair after a restore.",
            ),
          ]),
      ...(behind.length === 0
        ? []
        : [
            problem(
              check,
              `IDs are behind the counted position in ${behind.join(', ')}.`,
              'Check the clock of Redis; see docs/design/settlement.md.',
            ),
          ]),
      ...(gaps_of_30_days === 0
        ? []
        : [
            warning(
              check,
              `${String(gaps_of_30_days)} gap(s) in the last 30 days.`,
              'Run tollgate usage gaps.',
            ),
          ]),
    ],
    'All usage is counted.',
  );
}

function checkStoreCertificates({ postgres, redis }: HealthReport): Finding[] {
  const found = [
    ...(postgres === null ? [] : [['Postgres', postgres.certificate_expires_at] as const]),
    ...(redis?.servers ?? []).map(
      ({ address, certificate_expires_at }) => [`Redis at ${address}`, certificate_expires_at] as const,
    ),
  ];
  return found.map(([name, expiresAt]) =>
    expiresAt === null
      ? skipped('certificates', `account's connection to ${name} has no TLS.`)
      : certificateFinding(name, new Date(expiresAt)),
  );
}
