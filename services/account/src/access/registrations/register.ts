import { randomUUID } from 'node:crypto';
import type { ClientRegistration, RegistrationAnswer } from '@tollgate/contracts/client-registration';
import { addressGroup } from '@tollgate/http/address-group';
import type { AttemptCounts } from '../../identity/attempts/attempt-counts.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import type { Transact } from '../../platform/database/query.ts';
import { readClientMetadata } from './metadata.ts';
import { insertRegistration, isFull, lockRegistrations } from './store.ts';

/** Registers a client that has no developer here (RFC 7591). */
export type RegisterClient = (said: ClientRegistration, by: Actor) => Promise<RegistrationAnswer>;

const PER_ADDRESS = { max: 10, windowSec: 3_600 };

/** Unused registrations end within a day. */
const FULL_RETRY_SEC = 3_600;

export function createRegisterClient({
  transact,
  counts,
}: {
  transact: Transact;
  counts: Pick<AttemptCounts, 'take'>;
}): RegisterClient {
  return async ({ is_trusted, address, ...said }, by) => {
    const metadata = readClientMetadata(said);
    if ('code' in metadata) return { outcome: metadata.code, description: metadata.description };
    if (!is_trusted) {
      const limit = { subject: `register address ${addressGroup(address)}`, ...PER_ADDRESS };
      const { exceeded, retryAfterSec } = await counts.take([limit]);
      if (exceeded.length > 0) return { outcome: 'too_many', retry_after_sec: retryAfterSec };
    }
    const client_id = randomUUID();
    return transact(async (inside): Promise<RegistrationAnswer> => {
      await lockRegistrations(inside);
      if (await isFull(inside)) return { outcome: 'too_many', retry_after_sec: FULL_RETRY_SEC };
      const { application_id, issued_at } = await insertRegistration(inside, {
        ...metadata,
        client_id,
        document_url: null,
      });
      const { name, redirect_uris } = metadata;
      await recordAudit(inside, {
        ...by,
        actor: `client:${client_id}`,
        address,
        application_id,
        account_id: null,
        action: 'client_registered',
        details: { name, client_id, redirect_uris },
      });
      return { outcome: 'registered', client_id, client_name: name, redirect_uris, issued_at };
    });
  };
}
