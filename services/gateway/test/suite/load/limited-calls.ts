import type { ServerResponse } from 'node:http';
import type { Limits } from '@tollgate/contracts/entitlement';
import type { GatewayUnderTest, Handler } from '../gateway.ts';
import type { Answer } from '../http-client.ts';
import { withLimits } from '../stand-ins.ts';

let nextAccount = 5_000;

/** A new account with these limits, and a token of it. */
export function newCaller(
  { account, auth }: Pick<GatewayUnderTest, 'account' | 'auth'>,
  limits: Partial<Limits>,
): { accountId: number; token: string } {
  const accountId = (nextAccount += 1);
  account.entitle(accountId, withLimits(accountId, limits));
  return { accountId, token: auth.issue({ accountId }) };
}

export function countOf(answers: readonly Answer[], status: number): number {
  return answers.filter((answer) => answer.status === status).length;
}

/** An upstream that answers every call with these points, at once or after a time. */
export function answerFor(points: number, afterMs = 0): Handler {
  const answer = (res: ServerResponse) => {
    res.writeHead(200, { 'content-type': 'application/json', 'x-points': String(points) }).end('{"data":{}}');
  };
  return (req, res) => {
    req.resume().once('end', () => {
      if (afterMs === 0) answer(res);
      else setTimeout(answer, afterMs, res);
    });
  };
}

/** From now on the upstream holds its answers; each of the returned functions sends one, with its points if it has any. */
export function holdAnswers(upstream: (handler: Handler) => void): ((points?: number) => void)[] {
  const waiting: ((points?: number) => void)[] = [];
  upstream((req, res) => {
    req.resume();
    waiting.push((points) => {
      if (points !== undefined) res.setHeader('x-points', points);
      res.end('{}');
    });
  });
  return waiting;
}
