import type { Query } from '../../platform/database/query.ts';
import { singleRow } from '../../platform/database/single-row.ts';
import type { ClientMetadata } from './metadata.ts';

/** Of all that registered themselves, by RFC 7591 or by a document. */
const REGISTRATIONS_MAX = 10_000;

/** Their access tokens: people's refresh tokens renew them (docs/design/authorization.md). */
const TOKEN_LIFESPAN_SEC = 3_600;

/** Any number will do that no other advisory lock has. */
const REGISTRATION_LOCK = 5_100_161;

type Registered = { application_id: number; issued_at: number };

/** Until the transaction ends, no other client registers, so that the count holds. */
export async function lockRegistrations(query: Query): Promise<void> {
  await query('SELECT pg_advisory_xact_lock(:lock)', { lock: REGISTRATION_LOCK });
}

export async function isFull(query: Query): Promise<boolean> {
  const rows = await query<{ count: number }>('SELECT count(*) AS count FROM client_registrations');
  return singleRow(rows).count >= REGISTRATIONS_MAX;
}

/** An application without an account. `document_url` is null for RFC 7591. */
export async function insertRegistration(
  query: Query,
  made: ClientMetadata & { client_id: string; document_url: string | null },
): Promise<Registered> {
  const rows = await query<Registered>(
    `WITH made AS (
       INSERT INTO applications (account_id, name, type, token_lifespan_sec, client_id, public_client, redirect_uris)
       VALUES (NULL, :name, 'authorization', ${String(TOKEN_LIFESPAN_SEC)}, :client_id, true,
         CAST(:redirect_uris AS text[]))
       RETURNING application_id, created_at
     ), noted AS (
       INSERT INTO client_registrations (application_id, document_url, read_at)
       SELECT application_id, :document_url, now() FROM made
     )
     SELECT application_id, CAST(extract(epoch FROM created_at) AS bigint) AS issued_at FROM made`,
    made,
  );
  return singleRow(rows);
}

export type KnownDocument = {
  application_id: number;
  redirect_uris: string[];
  is_active: boolean;
  is_fresh: boolean;
};

export async function findByDocument(
  query: Query,
  { document_url, freshSec }: { document_url: string; freshSec: number },
): Promise<KnownDocument | undefined> {
  const rows = await query<KnownDocument>(
    `SELECT application_id, redirect_uris, status = 'active' AS is_active,
            read_at > now() - :freshSec * interval '1 second' AS is_fresh
     FROM client_registrations JOIN applications USING (application_id) WHERE document_url = :document_url`,
    { document_url, freshSec },
  );
  return rows[0];
}

/** The document was read again. An application that an operator has revoked stays so. */
export async function noteDocument(
  query: Query,
  { application_id, name, redirect_uris }: ClientMetadata & { application_id: number },
): Promise<void> {
  await query(
    `WITH read AS (UPDATE client_registrations SET read_at = now() WHERE application_id = :application_id)
     UPDATE applications SET name = :name, redirect_uris = CAST(:redirect_uris AS text[])
     WHERE application_id = :application_id`,
    { application_id, name, redirect_uris },
  );
}
