import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { ClientAnswer, RevokedTokens } from '@tollgate/contracts/client-record';
import { clientRevocationSchema, tokenUsesSchema } from '@tollgate/contracts/manual-tokens';
import type { ClientPage, ClientRevocation, TokenUses } from '@tollgate/contracts/manual-tokens';
import { lostRevocationSchema } from '@tollgate/contracts/client-change';
import type { LostRevocation } from '@tollgate/contracts/client-change';
import { basicAuthorization } from '@tollgate/http/private-api-credential';
import { serviceCredential } from '@tollgate/testbed/service-process';

/** An HTTP server in place of account's private API. */
export type AccountStandIn = {
  url: string;
  /** By client id. */
  clients: Map<string, ClientAnswer>;
  /** Paths of the requests for clients. */
  requests: string[];
  uses: TokenUses['uses'];
  revoked: (ClientRevocation & { client_id: string })[];
  /** Lost revocations that auth has reported. */
  recovered: (LostRevocation & { client_id: string })[];
  /** The X-Request-Id of each of `requests`. */
  requestIds: (string | undefined)[];
  /** `failing`: 500; `away`: the connection is cut. */
  mood: 'well' | 'failing' | 'away';
  /** Called after it has read its data, and before it responds. */
  onAnswered: () => void;
  /** Requests wait until the returned function is called. */
  hold: () => () => void;
  close: () => Promise<void>;
};

/** A 204. */
const DONE = Symbol('done');

export async function startAccountStandIn(): Promise<AccountStandIn> {
  let gate = Promise.resolve();
  const server = createServer((req, res) => {
    const url = req.url ?? '';
    if (!url.startsWith('/private/manual-tokens/')) {
      standIn.requests.push(url);
      standIn.requestIds.push(req.headers['x-request-id']?.toString());
    }
    void gate.then(() => respond(req, res));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');

  async function respond(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (standIn.mood === 'away') {
      req.socket.destroy();
      return;
    }
    const known = req.headers.authorization === basicAuthorization(serviceCredential);
    const answer = known && standIn.mood === 'well' ? await answerTo(standIn, req) : undefined;
    const status = standIn.mood === 'failing' ? 500 : !known ? 401 : answer === undefined ? 404 : 200;
    standIn.onAnswered();
    res.writeHead(answer === DONE ? 204 : status, { 'content-type': 'application/json' });
    res.end(answer === DONE ? undefined : JSON.stringify(answer ?? {}));
  }

  const standIn: AccountStandIn = {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    clients: new Map(),
    requests: [],
    uses: [],
    revoked: [],
    recovered: [],
    requestIds: [],
    mood: 'well',
    onAnswered: () => undefined,
    hold: () => {
      const { promise, resolve } = Promise.withResolvers<undefined>();
      gate = promise;
      return () => {
        resolve(undefined);
      };
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return standIn;
}

/** Undefined is 404. */
async function answerTo(standIn: AccountStandIn, req: IncomingMessage): Promise<unknown> {
  const body = req.method === 'POST' ? (JSON.parse(await text(req)) as unknown) : undefined;
  if (req.url === '/private/manual-tokens/uses') {
    standIn.uses.push(...tokenUsesSchema.parse(body).uses);
    return DONE;
  }
  // It knows no code and no refresh token.
  if (req.url?.startsWith('/private/grants/') === true) return { outcome: 'invalid_grant' };
  if (req.url?.startsWith('/private/manual-tokens/clients?after=') === true)
    return clientPage(standIn.clients);
  const [, client_id = '', part, after = ''] =
    /^\/private\/clients\/([^/?]+)(\/revoked-tokens|\/lost-revocation)?(?:\?after=(.*))?$/.exec(
      req.url ?? '',
    ) ?? [];
  const record = standIn.clients.get(client_id);
  if (part === undefined) return record;
  if (part === '/lost-revocation') {
    const { revocation_epoch } = lostRevocationSchema.parse(body);
    standIn.recovered.push({ client_id, revocation_epoch });
    if (record === undefined) return undefined;
    standIn.clients.set(client_id, { ...record, status: 'revoked', secrets: [], revocation_epoch });
    return DONE;
  }
  if (req.method === 'GET') return revokedPage(standIn.revoked, client_id, after);
  const revocation = clientRevocationSchema.parse(body);
  standIn.revoked.push({ ...revocation, client_id });
  if (record !== undefined) {
    const left = record.manual_tokens.filter(({ token_hash }) => token_hash !== revocation.token_hash);
    // In place, because a test may keep the record to change it later.
    Object.assign(record, { manual_tokens: left });
  }
  return DONE;
}

/** Small, so that a suite needs few tokens for a second page. */
const REVOKED_PAGE = 3;

function revokedPage(revoked: AccountStandIn['revoked'], client_id: string, after: string): RevokedTokens {
  const all = revoked.filter((one) => one.client_id === client_id).map(({ token_hash }) => token_hash);
  const token_hashes = [...new Set(all)]
    .toSorted((one, other) => (one < other ? -1 : 1))
    .filter((hash) => hash > after)
    .slice(0, REVOKED_PAGE);
  const last = token_hashes.at(-1) ?? null;
  return { token_hashes, next_after: token_hashes.length === REVOKED_PAGE ? last : null };
}

function clientPage(clients: AccountStandIn['clients']): ClientPage {
  const having = [...clients.values()].filter(({ manual_tokens }) => manual_tokens.length > 0);
  return { client_ids: having.map(({ client_id }) => client_id), next_after: null };
}
