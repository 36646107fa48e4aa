import { Agent, request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

/** What came of the calls. A lost call is one without a whole answer: nothing says whether it was charged. */
export type CallTally = {
  answered: number;
  /** Points that the answers stated. */
  points: number;
  /** Answers other than 200, by status. */
  refused: Record<string, number>;
  /** Failed connections, by code. */
  lost: Record<string, number>;
};

/** Whatever wasn't answered with 200, by status or code. */
export function unanswered({ refused, lost }: CallTally): Record<string, number> {
  return { ...refused, ...lost };
}

export type Calls = {
  /** So far. */
  tally: () => CallTally;
  /** Ends the load once each call that is under way has ended. */
  stop: () => Promise<CallTally>;
};

const QUERY = JSON.stringify({ query: '{ country(code: "FI") { name } }' });

/**
 * Callers with keep-alive connections, each of which calls again `pauseMs` after its last answer, as a customer's
 * service does. A call is sent once: nothing is hidden by a second attempt.
 */
export function startCalls(
  url: string,
  token: string,
  { callers, pauseMs }: { callers: number; pauseMs: number },
): Calls {
  const agent = new Agent({ keepAlive: true, maxSockets: callers });
  const tally: CallTally = { answered: 0, points: 0, refused: {}, lost: {} };
  let isOver = false;
  const count = (counts: Record<string, number>, key: string) => (counts[key] = (counts[key] ?? 0) + 1);

  const call = async () => {
    try {
      const response = await answer(url, token, agent);
      if (response.status === 200) {
        tally.answered += 1;
        tally.points += response.points;
      } else count(tally.refused, `${String(response.status)} ${response.code}`);
    } catch (error) {
      count(tally.lost, (error as NodeJS.ErrnoException).code ?? String(error));
    }
  };
  const caller = async () => {
    while (!isOver) {
      await call();
      await delay(pauseMs);
    }
  };
  const all = Array.from({ length: callers }, caller);
  return {
    tally: () => structuredClone(tally),
    stop: async () => {
      isOver = true;
      await Promise.all(all);
      agent.destroy();
      return tally;
    },
  };
}

async function answer(url: string, token: string, agent: Agent) {
  const sent = request(url, {
    agent,
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
  });
  sent.end(QUERY);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  let body = '';
  for await (const chunk of response.setEncoding('utf8')) body += chunk as string;
  const status = response.statusCode ?? 0;
  const code = status === 200 ? '' : codeOf(body);
  return { status, code, points: Number(response.headers['x-points-cost']) };
}

/** The code of a GraphQL error or of a problem document. */
function codeOf(body: string): string {
  const { code, errors } = JSON.parse(body) as {
    code?: string;
    errors?: { extensions?: { code?: string } }[];
  };
  return errors?.[0]?.extensions?.code ?? code ?? '';
}
