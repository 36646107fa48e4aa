import { batchCalls } from '@tollgate/redis/batch-calls';
import type { AuthenticClient } from '../client/authenticator.ts';
import type { IssueScript } from './issue-script.ts';

/** `changed`: not stored, because the client has changed. `waitUs`: refused for so many microseconds. */
type TokenOutcome = 'issued' | 'changed' | { waitUs: number };

type Wanted = { authentic: Pick<AuthenticClient, 'client' | 'json'>; tokenKey: string };

export type IssueToken = (authentic: Wanted['authentic'], tokenKey: string) => Promise<TokenOutcome>;

/** Only requests with the same remembered record share a batch; a record looked up for one isn't shared. */
export function batchTokens(script: Pick<IssueScript, 'issue'>): IssueToken {
  const issueAll = async (_record: string | symbol, batch: readonly Wanted[]) => {
    const [first] = batch;
    if (first === undefined) return [];
    const { client, json } = first.authentic;
    const keys = batch.map(({ tokenKey }) => tokenKey);
    const answer = await script.issue(client, keys, json);
    return keys.map((_, index): TokenOutcome => {
      if (answer === 'changed') return answer;
      return index < answer.fitted ? 'issued' : { waitUs: answer.waitUs };
    });
  };
  const issue = batchCalls(issueAll, { isSynced: true });
  return (authentic, tokenKey) => issue(authentic.json ?? Symbol('looked up'), { authentic, tokenKey });
}
