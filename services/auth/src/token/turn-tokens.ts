import { gatherTurn } from '@tollgate/redis/gather-turn';
import type { AuthenticClient } from '../client/authenticator.ts';
import type { IssueScript } from './issue-script.ts';

/** What became of one token: stored, not stored as the client has changed, or refused for so many microseconds. */
type TokenOutcome = 'issued' | 'changed' | { waitUs: number };

type Wanted = { authentic: Pick<AuthenticClient, 'client' | 'json'>; tokenKey: string };

/** Stores one token of a client at its key. */
export type IssueToken = (authentic: Wanted['authentic'], tokenKey: string) => Promise<TokenOutcome>;

/**
 * Tokens of one client that are asked for in one turn are stored by one script. They are gathered by the client's
 * record as it is remembered; what was looked up for one request is that request's.
 */
export function gatherTokens(script: Pick<IssueScript, 'issue'>): IssueToken {
  const issue = gatherTurn(async (_record: string | symbol, all: readonly Wanted[]) => {
    const [first] = all;
    if (first === undefined) return [];
    const { client, json } = first.authentic;
    const keys = all.map(({ tokenKey }) => tokenKey);
    const answer = await script.issue(client, keys, json);
    return keys.map((_, index): TokenOutcome => {
      if (answer === 'changed') return answer;
      return index < answer.fitted ? 'issued' : { waitUs: answer.waitUs };
    });
  });
  return (authentic, tokenKey) => issue(authentic.json ?? Symbol('looked up'), { authentic, tokenKey });
}
