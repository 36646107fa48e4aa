import { IS_OPEN_DOMAIN, LAPSED_AFTER_DAYS, domainOf } from '../../identity/accounts/open-domain.ts';
import type { Query } from '../../platform/database/query.ts';
import { singleRow } from '../../platform/database/single-row.ts';

export type TeamDomain = {
  domain_id: number;
  team_id: number;
  domain: string;
  challenge: string;
  created_at: Date;
  /** Null before DNS was first asked. */
  asked_at: Date | null;
  proven_at: Date | null;
  missing_since: Date | null;
  warned_at: Date | null;
  /** Whether the record has been missing for LAPSED_AFTER_DAYS. */
  is_lapsed: boolean;
};

/** For how many days in a row answers may lack the record before the manager is told. */
export const WARNED_AFTER_DAYS = 7;

const COLUMNS = `domain_id, team_id, domain, challenge, created_at, proven_at, missing_since, warned_at,
  CASE WHEN isfinite(asked_at) THEN asked_at END AS asked_at,
  coalesce(missing_since <= now() - ${String(LAPSED_AFTER_DAYS)} * interval '1 day', false) AS is_lapsed`;

export function listDomains(query: Query, teamId: number): Promise<TeamDomain[]> {
  return query<TeamDomain>(
    `SELECT ${COLUMNS} FROM team_domains WHERE team_id = :teamId ORDER BY proven_at IS NULL, domain`,
    { teamId },
  );
}

export async function findDomain(
  query: Query,
  { team_id, domain_id }: { team_id: number; domain_id: number },
): Promise<TeamDomain | undefined> {
  const rows = await query<TeamDomain>(
    `SELECT ${COLUMNS} FROM team_domains WHERE team_id = :team_id AND domain_id = :domain_id`,
    { team_id, domain_id },
  );
  return rows[0];
}

/** The team is locked, and doesn't have it. */
export async function insertDomain(
  query: Query,
  made: { team_id: number; domain: string; challenge: string },
): Promise<TeamDomain> {
  const rows = await query<TeamDomain>(
    `INSERT INTO team_domains (team_id, domain, challenge) VALUES (:team_id, :domain, :challenge)
     RETURNING ${COLUMNS}`,
    made,
  );
  return singleRow(rows);
}

export async function setAsked(query: Query, domainId: number): Promise<void> {
  await query('UPDATE team_domains SET asked_at = now() WHERE domain_id = :domainId', { domainId });
}

/** The next proven domain whose daily check is due. Every replica may ask: one takes it. */
export async function takeDueCheck(query: Query): Promise<TeamDomain | undefined> {
  const rows = await query<TeamDomain>(
    `UPDATE team_domains SET asked_at = now()
     WHERE domain_id = (
       SELECT domain_id FROM team_domains
       WHERE proven_at IS NOT NULL AND asked_at <= now() - interval '1 day'
       ORDER BY asked_at LIMIT 1 FOR UPDATE SKIP LOCKED)
     RETURNING ${COLUMNS}`,
  );
  return rows[0];
}

/** Every team's row of a domain, locked in one order, so that of two proofs the second sees the first. */
export function lockDomain(query: Query, domain: string): Promise<TeamDomain[]> {
  return query<TeamDomain>(
    `SELECT ${COLUMNS} FROM team_domains WHERE domain = :domain ORDER BY domain_id FOR UPDATE`,
    { domain },
  );
}

export async function setProven(query: Query, domainId: number): Promise<TeamDomain> {
  const rows = await query<TeamDomain>(
    `UPDATE team_domains SET proven_at = coalesce(proven_at, now()), missing_since = NULL, warned_at = NULL
     WHERE domain_id = :domainId RETURNING ${COLUMNS}`,
    { domainId },
  );
  return singleRow(rows);
}

export async function setUnproven(query: Query, domainId: number): Promise<void> {
  await query(
    `UPDATE team_domains SET proven_at = NULL, missing_since = NULL, warned_at = NULL
     WHERE domain_id = :domainId`,
    { domainId },
  );
}

/** Undefined if it isn't proven any more. */
export async function setMissing(
  query: Query,
  domainId: number,
): Promise<(TeamDomain & { is_warning_due: boolean }) | undefined> {
  const rows = await query<TeamDomain & { is_warning_due: boolean }>(
    `UPDATE team_domains SET missing_since = coalesce(missing_since, now())
     WHERE domain_id = :domainId AND proven_at IS NOT NULL
     RETURNING ${COLUMNS}, warned_at IS NULL
       AND missing_since <= now() - ${String(WARNED_AFTER_DAYS)} * interval '1 day' AS is_warning_due`,
    { domainId },
  );
  return rows[0];
}

export async function setWarned(query: Query, domainId: number): Promise<void> {
  await query('UPDATE team_domains SET warned_at = now() WHERE domain_id = :domainId', { domainId });
}

export async function deleteDomain(
  query: Query,
  { team_id, domain_id }: { team_id: number; domain_id: number },
): Promise<TeamDomain | undefined> {
  const rows = await query<TeamDomain>(
    `DELETE FROM team_domains WHERE team_id = :team_id AND domain_id = :domain_id RETURNING ${COLUMNS}`,
    { team_id, domain_id },
  );
  return rows[0];
}

/**
 * Whether the team has the address's domain. Held until the end of the transaction, so that a team that loses it ends
 * what is being begun.
 */
export async function holdsDomain(query: Query, teamId: number, email: string): Promise<boolean> {
  const rows = await query(
    `SELECT 1 FROM team_domains AS domain
     WHERE domain.team_id = :teamId AND domain.domain = ${domainOf('CAST(:email AS text)')}
       AND ${IS_OPEN_DOMAIN} FOR SHARE`,
    { teamId, email },
  );
  return rows.length > 0;
}
