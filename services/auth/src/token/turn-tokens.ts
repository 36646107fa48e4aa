import { atTurnEnd } from '@tollgate/redis/gather-writes';
import type { AuthenticClient } from '../client/authenticator.ts';
import type { IssueScript } from './issue-script.ts';

/** What became of one token: stored, not stored as the client has changed, or refused for so many microseconds. */
type TokenOutcome = 'issued' | 'changed' | { waitUs: number };

/** Stores one token of a client at its key. */
export type IssueToken = (
  authentic: Pick<AuthenticClient, 'client' | 'json'>,
  tokenKey: string,
) => Promise<TokenOutcome>;

type Waiting = {
  tokenKey: string;
  resolve: (outcome: TokenOutcome) => void;
  reject: (error: unknown) => void;
};

type Group = { authentic: Parameters<IssueToken>[0]; waiting: Waiting[] };

/** What one command stores, at most: Redis does nothing else meanwhile. */
const MAX_TOKENS = 256;

/**
 * Tokens of one client that are asked for in one turn of the event loop are stored by one script, in the order in
 * which they were asked for: that spares Redis and this process most of the commands, and it delays none, because
 * the turn's commands go out together anyway.
 */
export function gatherTokens(script: Pick<IssueScript, 'issue'>): IssueToken {
  /** By the client's record as it is remembered; what was looked up for one request is that request's. */
  let groups = new Map<string | symbol, Group>();

  function send(): void {
    const all = groups;
    groups = new Map();
    for (const { authentic, waiting } of all.values()) {
      for (let start = 0; start < waiting.length; start += MAX_TOKENS) {
        void issueAll(authentic, waiting.slice(start, start + MAX_TOKENS));
      }
    }
  }

  async function issueAll({ client, json }: Group['authentic'], waiting: readonly Waiting[]): Promise<void> {
    try {
      const keys = waiting.map(({ tokenKey }) => tokenKey);
      const answer = await script.issue(client, keys, json);
      for (const [index, { resolve }] of waiting.entries()) {
        if (answer === 'changed') resolve(answer);
        else resolve(index < answer.fitted ? 'issued' : { waitUs: answer.waitUs });
      }
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }

  return (authentic, tokenKey) =>
    new Promise((resolve, reject) => {
      const name = authentic.json ?? Symbol('looked up');
      let group = groups.get(name);
      if (group === undefined) {
        if (groups.size === 0) atTurnEnd(send);
        group = { authentic, waiting: [] };
        groups.set(name, group);
      }
      group.waiting.push({ tokenKey, resolve, reject });
    });
}
