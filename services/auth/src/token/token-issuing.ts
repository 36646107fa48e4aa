import { accessTokenHash, applicationPart } from '@tollgate/credentials/access-token';
import { batchCalls } from '@tollgate/redis/batch-calls';
import type { Script } from '@tollgate/redis/script';
import type { ClientChange } from '@tollgate/contracts/client-change';
import { DATA_SCOPE } from '@tollgate/contracts/resource-servers';
import { tooManyRequests } from '../abuse/too-many-requests.ts';
import type { TokenClient } from '../client/authenticator.ts';
import { clientKey, epochKey, issuedTokensKey, tokenKey } from '../redis/keys.ts';
import type { TokenRecord } from '../redis/token-record.ts';
import { limitArgs } from './issue-script.ts';

/** Limited per client over all replicas; a client may use a minute's allowance at once. */
export type TokenIssuing = {
  /**
   * Counts a request that gets no token.
   * @throws {Problem} too_many_requests; service_unavailable
   */
  count: (clientId: string) => Promise<void>;
  /**
   * Counts a request and stores its token in one round trip. `changed`, and nothing is done, if the client was only
   * remembered (`json`) and Redis has another record by now. A connection's token isn't counted: account has used up
   * by then what it was asked for with.
   * @throws {Problem} too_many_requests; service_unavailable
   */
  issue: (token: string, wanted: WantedToken) => Promise<'issued' | 'changed'>;
};

type WantedToken = {
  client: TokenClient;
  /** See AuthenticClient. */
  json?: string;
  /** Of a connection: for whom and for what it acts. */
  delegation?: Pick<TokenRecord, 'via' | 'aud' | 'scope'>;
};

type Wanted = { authentic: WantedToken; tokenKey: string };

/** `waitUs`: refused for so many microseconds. */
type Outcome = 'issued' | 'changed' | { waitUs: number };

/** Costs nothing of whatever allowance is left. */
const UNLIMITED = [0, Number.MAX_SAFE_INTEGER] as const;

export function createTokenIssuing(options: {
  /** Of issue-script.ts. */
  runScript: Script;
  perMinute: number;
  /** Live tokens; beyond them the oldest end. */
  liveMax: { perApplication: number; perConnection: number };
  onLimited: () => void;
  /** Live tokens were ended because newer ones exceed the maximum. */
  onSurplus: (count: number) => void;
}): TokenIssuing {
  const { runScript, perMinute, liveMax, onLimited, onSurplus } = options;
  const limit = limitArgs(perMinute);

  async function issueWithin(
    clientId: string,
    tokenKeys: readonly string[],
    args: readonly (string | number)[],
    isCounted = true,
  ): Promise<[fitted: number, waitUs: number]> {
    const part = applicationPart(clientId);
    const requestsKey = `auth:{${part}}:requests`;
    const keys = [requestsKey, clientKey(clientId), epochKey(part), issuedTokensKey(part), ...tokenKeys];
    const answer = await runScript(keys, [...(isCounted ? limit : UNLIMITED), ...args]);
    const [fitted, waitUs, surplus] = answer as [number, number, number];
    if (surplus > 0) onSurplus(surplus);
    return [fitted, waitUs];
  }

  async function issueAll(_record: string | symbol, batch: readonly Wanted[]): Promise<Outcome[]> {
    const [first] = batch;
    if (first === undefined) return [];
    const { client, json = '', delegation } = first.authentic;
    const keys = batch.map((wanted) => wanted.tokenKey);
    const most = delegation === undefined ? liveMax.perApplication : liveMax.perConnection;
    const args = [
      keys.length,
      restOfRecord(client, delegation),
      client.token_lifespan_sec,
      json,
      most,
      beginningOfEnd(client),
    ];
    const isCounted = delegation === undefined;
    const [fitted, waitUs] = await issueWithin(client.client_id, keys, args, isCounted);
    return keys.map((_, index) => (fitted < 0 ? 'changed' : index < fitted ? 'issued' : { waitUs }));
  }

  // Only requests with the same remembered record share a batch; a record looked up for one isn't shared.
  const issueInBatch = batchCalls(issueAll, { isSynced: true });

  function refusal(waitUs: number): Error {
    onLimited();
    return tooManyRequests(waitUs / 1000);
  }

  return {
    count: async (clientId) => {
      const [fitted, waitUs] = await issueWithin(clientId, [], [1, '', 0, '', 0, '']);
      if (fitted === 0) throw refusal(waitUs);
    },
    issue: async (token, authentic) => {
      const key = tokenKey(accessTokenHash(token), applicationPart(authentic.client.client_id));
      const batch = authentic.json ?? Symbol('looked up');
      const outcome = await issueInBatch(batch, { authentic, tokenKey: key });
      if (typeof outcome === 'object') throw refusal(outcome.waitUs);
      return outcome;
    },
  };
}

/** The message that a token has ended, up to its hash. */
function beginningOfEnd({ client_id, revocation_epoch }: TokenClient): string {
  const common: Omit<Extract<ClientChange, { change: 'token' }>, 'token_hash'> = {
    change: 'token',
    client_id,
    revocation_epoch,
    source: 'auth',
  };
  return `${JSON.stringify(common).slice(0, -1)},"token_hash":"`;
}

function restOfRecord(client: TokenClient, delegation: WantedToken['delegation']): string {
  const { client_id, account_id, application_id, revocation_epoch } = client;
  // Grants refuse such a client before (client-credentials.ts): its tokens are connections'.
  if (account_id === null) throw new Error('a token of a client without an account');
  const record: Omit<TokenRecord, 'iat' | 'exp'> = {
    client_id,
    account_id,
    application_id,
    scope: DATA_SCOPE,
    epoch: revocation_epoch,
    ...delegation,
  };
  return JSON.stringify(record).slice(1);
}
