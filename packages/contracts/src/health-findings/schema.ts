import type { HealthReport } from '../health-report.ts';
import { ok, orOk, problem, warning } from './finding.ts';
import type { Finding } from './finding.ts';

type Postgres = NonNullable<HealthReport['postgres']>;

const RUN_MIGRATE = "Run node /app/migrate.mjs from the account image of account's version.";
const DURING_ROLLBACK = 'Complete the update of account, or ignore this during a rollback.';

/** The version that migrated the schema, beside account's (docs/design/stores.md). */
export function checkSchema({ version: own, postgres }: HealthReport): Finding {
  const check = 'schema';
  const schema = postgres?.schema;
  if (schema === null || schema === undefined) {
    return problem(check, 'The schema states no version.', RUN_MIGRATE);
  }
  const { version, oldest_served_version, compared } = schema;
  const stated = `The schema is that of version ${version ?? 'none'}`;
  if (compared === 'same') return ok(check, `${stated}, as account.`);
  if (compared === 'older') {
    return problem(check, `${stated}, and account is ${own}: the migrations did not complete.`, RUN_MIGRATE);
  }
  if (compared === 'newer')
    return warning(check, `${stated}. It also serves account's ${own}.`, DURING_ROLLBACK);
  return problem(
    check,
    `${stated}. It does not serve account's ${own}, but ${oldest_served_version} and newer.`,
    `Install ${oldest_served_version} or newer.`,
  );
}

export function checkMigrations({ pending_migrations, unknown_migrations }: Postgres): readonly Finding[] {
  return orOk(
    'migrations',
    [
      ...(pending_migrations.length === 0
        ? []
        : [problem('migrations', `Not applied: ${pending_migrations.join(', ')}.`, RUN_MIGRATE)]),
      ...(unknown_migrations.length === 0
        ? []
        : [
            warning(
              'migrations',
              `Applied by a newer version: ${unknown_migrations.join(', ')}.`,
              DURING_ROLLBACK,
            ),
          ]),
    ],
    'All migrations are applied.',
  );
}
