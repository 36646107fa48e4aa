import { createHash, randomBytes } from 'node:crypto';
import type { PartResult } from '../part.ts';
import { spreadOf, spreadText } from '../report/ratios.ts';
import type { Servers } from '../servers.ts';
import { makeDatabase } from '../usage/further-database.ts';

const ACCOUNTS = 100_000;
/** With the first, which isn't counted, below the 60 searches a minute that an operator has. */
const ROUNDS = 8;
const GOAL_MS = 200;

/** Of the account in the middle. */
const SOUGHT = String(ACCOUNTS / 2);

/** By their name in the results. */
const SEARCHES: Readonly<Record<string, string>> = {
  'beginning of an email address': 'customer5',
  'email address': `customer${SOUGHT}@bench.example`,
  'account ID': SOUGHT,
  'request ID': createHash('md5').update(SOUGHT).digest('hex'),
  'part of a client ID': '-8000-00000000beef',
  'part of an application’s name': `app ${SOUGHT}`,
};

/** What a customer quotes, among 100,000 accounts with an application and a refused call each. */
export async function measureOperatorSearch(
  servers: Servers,
  say: (line: string) => void,
): Promise<PartResult> {
  const token = randomBytes(32).toString('base64url');
  const databaseUrl = await makeDatabase(servers, 'search', fillingSql(token));
  say('operator-search: the database is filled');
  const account = await servers.startFurther('account', {
    settings: { DATABASE_URL: databaseUrl, OPERATORS_URL: 'http://localhost:1/operator' },
  });
  const api = `${account.privateUrl}/operator/api`;
  const cookie = `tollgate_operator=${token}`;
  const session = (await (await fetch(`${api}/session`, { headers: { cookie } })).json()) as {
    csrf_token: string;
  };
  const headers = { cookie, 'x-csrf-token': session.csrf_token, 'content-type': 'application/json' };
  const tookMs: Record<string, number[]> = {};
  const found: Record<string, number> = {};
  for (const [what, text] of Object.entries(SEARCHES)) {
    const answers = [];
    for (let round = 0; round <= ROUNDS; round += 1) answers.push(await search(api, headers, text));
    tookMs[what] = answers.slice(1).map(({ ms }) => ms);
    found[what] = answers[0]?.count ?? 0;
    if (found[what] === 0) throw new Error(`nothing was found by the ${what}`);
    say(`operator-search: ${what}: ${spreadText(spreadOf(tookMs[what]), 0)} ms`);
  }
  await account.stop();
  const slowest = Math.max(...Object.values(tookMs).flat());
  return {
    goals: [
      {
        what: `the slowest search of operators among ${String(ACCOUNTS)} accounts, ms`,
        figure: slowest.toFixed(0),
        target: `< ${String(GOAL_MS)}`,
        reached: slowest < GOAL_MS,
      },
    ],
    notes: [
      `${String(ACCOUNTS)} accounts with an application and a refused call each, ${String(ROUNDS)} rounds, one request at a time`,
      ...Object.entries(tookMs).map(
        ([what, each]) => `${what}: ${spreadText(spreadOf(each), 0)} ms, ${String(found[what] ?? 0)} found`,
      ),
    ],
    figures: { tookMs, found },
  };
}

async function search(
  api: string,
  headers: Record<string, string>,
  text: string,
): Promise<{ ms: number; count: number }> {
  const startedMs = performance.now();
  const answer = await fetch(`${api}/search`, { method: 'POST', headers, body: JSON.stringify({ text }) });
  const body = await answer.text();
  const ms = performance.now() - startedMs;
  if (!answer.ok) throw new Error(`a search answered ${String(answer.status)} ${body}`);
  return { ms, count: (JSON.parse(body) as { found: unknown[] }).found.length };
}

/** `token`: of an operator's session. */
function fillingSql(token: string): string {
  const hash = createHash('sha256').update(token).digest('hex');
  const all = `generate_series(1, ${String(ACCOUNTS)}) AS n`;
  return `
    INSERT INTO accounts (account_id, email, name, password_hash) OVERRIDING SYSTEM VALUE
    SELECT n, 'customer' || n || '@bench.example', 'Customer ' || n, '-' FROM ${all};
    INSERT INTO applications (account_id, name, type, token_lifespan_sec, client_id)
    SELECT n, 'app ' || n, 'automatic', 3600,
           CASE n WHEN ${SOUGHT} THEN '00000000-0000-4000-8000-00000000beef' ELSE gen_random_uuid() END
    FROM ${all};
    INSERT INTO refused_calls (request_id, seq, at, kind, code, account_id, address, api_version, unrecorded_before)
    SELECT md5(n::text), 1, now(), 'call', 'rate_limit_exceeded', n, '192.0.2.1', 'v2', 0 FROM ${all};
    INSERT INTO operators (name, email, local_role) VALUES ('Bench', 'operator@bench.example', 'support');
    INSERT INTO operator_sessions (token_hash, operator_id, role, expires_at, address, user_agent)
    SELECT decode('${hash}', 'hex'), operator_id, 'support', now() + interval '1 hour', '192.0.2.1', ''
    FROM operators;
    TRUNCATE entitlement_outbox;
    ANALYZE;`;
}
