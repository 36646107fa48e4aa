import type { Query } from '../../platform/database/query.ts';

/** A registration that no person has ever used, and one of RFC 7591 that no person is connected to any more. */
const UNUSED = "interval '1 day'";
const UNCONNECTED = "interval '30 days'";

const IS_CONNECTED = `EXISTS (
  SELECT FROM connections JOIN applications AS hidden USING (application_id)
  WHERE client_application_id = registration.application_id AND hidden.status = 'active'
    AND connections.expires_at > now())`;

/**
 * Ends registrations that are no longer used. Documents stay once someone has used them: their address brings them back
 * anyway, and what an operator has revoked must stay revoked.
 */
export async function sweepRegistrations(query: Query): Promise<void> {
  await query(
    `UPDATE client_registrations AS registration
     SET unconnected_since = CASE WHEN ${IS_CONNECTED} THEN NULL ELSE now() END
     WHERE ${IS_CONNECTED} = (unconnected_since IS NOT NULL)`,
    {},
  );
  // A request or a code that comes at this moment refers to the application, and the statement fails until the next time.
  await query(
    `WITH gone AS (
       DELETE FROM client_registrations AS registration
       USING applications AS application
       WHERE application.application_id = registration.application_id AND application.status = 'active'
         AND unconnected_since <= now() - ${UNUSED}
         AND NOT EXISTS (SELECT FROM connections WHERE client_application_id = registration.application_id)
         AND NOT EXISTS (SELECT FROM authorization_requests AS asked WHERE asked.application_id = registration.application_id)
         AND NOT EXISTS (SELECT FROM authorization_codes AS code WHERE code.application_id = registration.application_id)
       RETURNING registration.application_id
     )
     DELETE FROM applications USING gone WHERE applications.application_id = gone.application_id`,
    {},
  );
  await query(
    `WITH gone AS (
       DELETE FROM client_registrations AS registration
       WHERE document_url IS NULL AND unconnected_since <= now() - ${UNCONNECTED}
       RETURNING application_id
     ), ended AS (
       UPDATE applications SET status = 'deleted', revocation_epoch = revocation_epoch + 1
       FROM gone WHERE applications.application_id = gone.application_id
       RETURNING client_id, applications.application_id, revocation_epoch
     )
     INSERT INTO client_change_outbox
       (client_id, application_id, revocation_epoch, change, next_attempt_at, publish_after)
     SELECT client_id, application_id, revocation_epoch, 'application', clock_timestamp(), clock_timestamp()
     FROM ended`,
    {},
  );
}
