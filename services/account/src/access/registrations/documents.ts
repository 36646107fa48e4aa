import { documentClientId } from '@tollgate/credentials/client-id-document';
import type { Logger } from '@tollgate/log';
import { refuseExceeded } from '../../identity/attempts/attempt-counts.ts';
import type { AttemptCounts } from '../../identity/attempts/attempt-counts.ts';
import type { Caller } from '../../http/caller-address.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import type { ClientMetadata } from './metadata.ts';
import { findByDocument, insertRegistration, isFull, lockRegistrations, noteDocument } from './store.ts';

type FoundApplication = { application_id: number; redirect_uris: string[] };

/**
 * The application whose client ID is the address of a document about it. `unknown_client` without I/O for a host that
 * isn't allowed; `client_document` if the document can't be read, or isn't right.
 * @throws {Problem} too_many_requests
 */
export type FindByDocument = (
  url: string,
  by: Caller,
) => Promise<FoundApplication | 'unknown_client' | 'client_document'>;

/** Never longer, whatever its server says: a redirect URI that was taken out has to end. */
const FRESH_SEC = 3_600;

const READS_PER_ADDRESS = { max: 30, windowSec: 60 };

/** As auth reads client IDs. */
const URL_MAX_CHARACTERS = 255;

export function createFindByDocument({
  query,
  transact,
  counts,
  hosts,
  readDocument,
  logger,
}: {
  query: Query;
  transact: Transact;
  counts: Pick<AttemptCounts, 'take'>;
  /** `host` or `host:port`. */
  hosts: readonly string[];
  readDocument: (url: string) => Promise<ClientMetadata>;
  logger: Pick<Logger, 'info'>;
}): FindByDocument {
  return async (url, { address, addressGroup, request_id }) => {
    if (!isDocumentUrl(url, hosts)) return 'unknown_client';
    const known = await findByDocument(query, { document_url: url, freshSec: FRESH_SEC });
    if (known?.is_active === false) return 'unknown_client';
    if (known?.is_fresh === true) return known;
    const limit = { subject: `client document address ${addressGroup}`, ...READS_PER_ADDRESS };
    refuseExceeded(await counts.take([limit]));
    let metadata: ClientMetadata;
    try {
      metadata = await readDocument(url);
    } catch (error) {
      logger.info({ err: error, request_id, url }, 'a client ID metadata document was refused');
      return 'client_document';
    }
    return transact(async (inside) => {
      await lockRegistrations(inside);
      const before = await findByDocument(inside, { document_url: url, freshSec: FRESH_SEC });
      if (before !== undefined) {
        const { application_id } = before;
        await noteDocument(inside, { ...metadata, application_id });
        return { application_id, redirect_uris: metadata.redirect_uris };
      }
      if (await isFull(inside)) return 'unknown_client' as const;
      const client_id = documentClientId(url);
      const made = { ...metadata, client_id, document_url: url };
      const { application_id } = await insertRegistration(inside, made);
      const { name, redirect_uris } = metadata;
      await recordAudit(inside, {
        actor: `client:${client_id}`,
        address,
        request_id,
        application_id,
        account_id: null,
        action: 'client_registered',
        details: { name, client_id, redirect_uris, document_url: url },
      });
      return { application_id, redirect_uris };
    });
  };
}

/** One spelling of one document: what two readers could take for another address is no client ID. */
function isDocumentUrl(text: string, hosts: readonly string[]): boolean {
  if (text.length > URL_MAX_CHARACTERS || !URL.canParse(text)) return false;
  const { protocol, username, password, host, pathname, hash, search, href } = new URL(text);
  return (
    protocol === 'https:' &&
    username === '' &&
    password === '' &&
    hash === '' &&
    search === '' &&
    pathname !== '/' &&
    href === text &&
    hosts.includes(host)
  );
}
