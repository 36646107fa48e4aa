import { randomBytes } from 'node:crypto';
import { createQuery, createTransact } from '../../../src/platform/database/query.ts';
import type { Query, Transact } from '../../../src/platform/database/query.ts';
import type { Knex } from 'knex';

/**
 * The statements of the previous version, 0.1.0, some of them shortened; they run during the migration and after it.
 * Don't adapt them to today's code: a release replaces them by the released ones (docs/design/stores.md).
 */
export const VERSION_BEFORE = '0001-schema';

export type Inhabitants = {
  account_id: number;
  period_id: number;
  application_id: number;
  client_id: string;
  stream: string;
};

type Doing = (query: Query, transact: Transact, of: Inhabitants) => Promise<void>;

/** The usage reader: a position, totals and an hourly row in one transaction, one point each time. */
const countUsage: Doing = async (_query, transact, { account_id, period_id, application_id, stream }) => {
  await transact(async (query) => {
    await query('SELECT * FROM usage_stream_positions WHERE stream = :stream FOR UPDATE SKIP LOCKED', {
      stream,
    });
    await query(
      `INSERT INTO usage_totals AS total (period_id, points, requests, time_ms, traffic_bytes)
       SELECT * FROM unnest(CAST(:period_id AS bigint[]), CAST(:points AS bigint[]), CAST(:requests AS bigint[]),
                            CAST(:time_ms AS bigint[]), CAST(:traffic_bytes AS bigint[]))
       ORDER BY 1
       ON CONFLICT (period_id) DO UPDATE SET
         points = total.points + excluded.points,
         requests = total.requests + excluded.requests,
         time_ms = total.time_ms + excluded.time_ms,
         traffic_bytes = total.traffic_bytes + excluded.traffic_bytes`,
      { period_id: [period_id], points: [1], requests: [1], time_ms: [0], traffic_bytes: [9] },
    );
    await query(
      `INSERT INTO usage_hourly AS hourly
         (period_id, hour, account_id, application_id, api_version, points, requests, time_ms, traffic_bytes)
       VALUES (:period_id, date_trunc('hour', now()), :account_id, :application_id, 'v2', 1, 1, 0, 9)
       ON CONFLICT (period_id, hour, account_id, application_id, api_version) DO UPDATE SET
         points = hourly.points + excluded.points,
         requests = hourly.requests + excluded.requests,
         time_ms = hourly.time_ms + excluded.time_ms,
         traffic_bytes = hourly.traffic_bytes + excluded.traffic_bytes`,
      { period_id, account_id, application_id },
    );
    await query(
      `INSERT INTO usage_gateway_sequences (stream, gateway_id, last_seq, batches, requests, points, counted_at)
       VALUES (:stream, 'g', 1, 1, 1, 1, clock_timestamp())
       ON CONFLICT (stream, gateway_id) DO UPDATE SET last_seq = usage_gateway_sequences.last_seq + 1`,
      { stream },
    );
    await query(
      `INSERT INTO application_uses AS stored (application_id, last_used_at) VALUES (:application_id, now())
       ON CONFLICT (application_id) DO UPDATE SET last_used_at = excluded.last_used_at`,
      { application_id },
    );
    await query(
      `UPDATE usage_stream_positions AS stored SET position = reached.position
       FROM unnest(CAST(:streams AS text[]), CAST(:positions AS text[])) AS reached (stream, position)
       WHERE stored.stream = reached.stream`,
      { streams: [stream], positions: [`${String(Date.now())}-0`] },
    );
  });
};

const readUsage: Doing = async (query, _transact, { account_id }) => {
  const rows = await query(
    `SELECT caller.account_id, payer.account_id AS payer_id,
            (caller.blocked_at IS NOT NULL OR payer.blocked_at IS NOT NULL) AS account_blocked,
            period.period_id, period.plan_name, product.name AS product_name, period.description,
            period.grace_sec, period.team_slots_limit, period.started_at, period.ended_at,
            period.blocked_at IS NOT NULL AS blocked,
            coalesce(total.points, 0) AS points, coalesce(total.requests, 0) AS requests,
            coalesce(total.time_ms, 0) AS time_ms, coalesce(total.traffic_bytes, 0) AS traffic_bytes
     FROM accounts AS caller
     LEFT JOIN team_members AS membership
       ON membership.account_id = caller.account_id AND membership.role = 'member'
     LEFT JOIN team_members AS manager
       ON manager.team_id = membership.team_id AND manager.role = 'manager'
     JOIN accounts AS payer ON payer.account_id = coalesce(manager.account_id, caller.account_id)
     LEFT JOIN LATERAL (
       (SELECT * FROM billing_periods
        WHERE account_id = payer.account_id AND started_at <= :now ORDER BY started_at DESC LIMIT 1)
       UNION ALL
       (SELECT * FROM billing_periods
        WHERE account_id = payer.account_id AND started_at > :now ORDER BY started_at LIMIT 1)
     ) AS period ON true
     LEFT JOIN products AS product USING (product_id)
     LEFT JOIN usage_totals AS total USING (period_id)
     WHERE caller.account_id = :account_id`,
    { account_id, now: new Date() },
  );
  if (rows.length !== 1) throw new Error('the usage is not there');
};

const signIn: Doing = async (_query, transact, { account_id }) => {
  const tokenHash = randomBytes(32);
  await transact(async (query) => {
    await query(
      `INSERT INTO sessions (account_id, token_hash, expires_at, address, user_agent, confirmed_at)
       VALUES (:account_id, :tokenHash, now() + interval '1 hour', '192.0.2.1', 'Browser', now())
       RETURNING session_id, created_at, expires_at`,
      { account_id, tokenHash },
    );
    await query(
      `INSERT INTO audit_log (actor, action, application_id, account_id, address, request_id, details)
       VALUES ('account:1', 'signed_in', NULL, :account_id, '192.0.2.1', 'r', '{}')`,
      { account_id },
    );
  });
  await transact(async (query) => {
    const found = await query(
      `SELECT session_id, confirmed_at, email, name, email_verified_at, deletion_due_at FROM sessions JOIN accounts USING (account_id)
       WHERE token_hash = :tokenHash AND sessions.expires_at > now()`,
      { tokenHash },
    );
    if (found.length !== 1) throw new Error('the session is not there');
    await query('UPDATE sessions SET last_seen_at = now() WHERE token_hash = :tokenHash', { tokenHash });
    await query('DELETE FROM sessions WHERE token_hash = :tokenHash', { tokenHash });
  });
};

/** auth's query, and a change of an application with its row for auth. */
const changeClient: Doing = async (_query, transact, { application_id, client_id }) => {
  await transact(async (query) => {
    await query(
      `SELECT client_id, application_id, account_id, status, token_lifespan_sec, revocation_epoch
       FROM applications WHERE client_id = :client_id AND status <> 'deleted' FOR UPDATE`,
      { client_id },
    );
    await query(
      'UPDATE applications SET revocation_epoch = revocation_epoch + 1 WHERE application_id = :application_id',
      { application_id },
    );
    await query(
      `INSERT INTO client_change_outbox
         (client_id, application_id, revocation_epoch, change, token_hash, next_attempt_at, publish_after)
       VALUES (:client_id, :application_id, 1, 'application', NULL, clock_timestamp(), clock_timestamp())
       RETURNING outbox_id`,
      { client_id, application_id },
    );
  });
};

const sendMail: Doing = async (query) => {
  await query(
    `INSERT INTO mail_outbox
       (kind, recipient, account_id, name, password_hash, invitation_id, alert_id, webhook_id, request_address,
        request_id)
     VALUES ('password_reset', 'someone@example.com', NULL, NULL, NULL, NULL, NULL, NULL, '192.0.2.1', 'r')`,
  );
  await query(
    `UPDATE mail_outbox SET next_attempt_at = clock_timestamp() + interval '1 minute'
     WHERE mail_id IN (
       SELECT mail_id FROM mail_outbox WHERE next_attempt_at <= clock_timestamp()
       ORDER BY next_attempt_at LIMIT 1 FOR UPDATE SKIP LOCKED
     ) RETURNING mail_id, kind, recipient, account_id, name, password_hash, invitation_id, alert_id, webhook_id,
       request_address, request_id, created_at, attempts`,
  );
};

/** Blocks and unblocks; triggers notify of both. */
const block: Doing = async (query, _transact, { account_id }) => {
  for (const blocked_at of [new Date(), null]) {
    await query('UPDATE accounts SET blocked_at = :blocked_at WHERE account_id = :account_id', {
      account_id,
      blocked_at,
    });
  }
  await query(
    `DELETE FROM entitlement_outbox WHERE outbox_id IN (
       SELECT outbox_id FROM entitlement_outbox ORDER BY outbox_id LIMIT 1000 FOR UPDATE SKIP LOCKED
     ) RETURNING account_id`,
  );
};

const DOINGS: Readonly<Record<string, Doing>> = {
  countUsage,
  readUsage,
  signIn,
  changeClient,
  sendMail,
  block,
};

export type Run = {
  done: Readonly<Record<string, number>>;
  failures: readonly unknown[];
  stop: () => Promise<void>;
};

export function runVersionBefore(database: Knex, of: Inhabitants): Run {
  const [query, transact] = [createQuery(database), createTransact(database)];
  const stopping = new AbortController();
  const done: Record<string, number> = {};
  const failures: unknown[] = [];
  const running = Object.entries(DOINGS).map(async ([name, doing]) => {
    done[name] = 0;
    // The first failure is enough: those of a pool that is closed would fill the memory.
    try {
      while (!stopping.signal.aborted) {
        await doing(query, transact, of);
        done[name] += 1;
      }
    } catch (error) {
      failures.push(error);
    }
  });
  return {
    done,
    failures,
    stop: async () => {
      stopping.abort();
      await Promise.all(running);
    },
  };
}
