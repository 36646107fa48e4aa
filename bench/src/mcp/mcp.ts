import { startUpstream } from '../gateway/nginx.ts';
import { ROUNDS, ROUND_SEC } from '../gateway/compare.ts';
import { createWrk } from '../load/wrk.ts';
import type { WrkRound } from '../load/wrk.ts';
import { freshApplication } from '../operator.ts';
import type { PartResult } from '../part.ts';
import { spreadOf, spreadText } from '../report/ratios.ts';
import type { Servers } from '../servers.ts';
import { findTools } from '../tools.ts';
import { widenLimits } from '../usage/wide-limits.ts';

const WARM_UP_SEC = 15;
/** With a token each, since a token has eight requests of MCP under way at most. */
const CONNECTIONS = 8;
const QUERY = '{ country(code: "CH") { name capital } }';

const JSON_HEADERS = { 'content-type': 'application/json' };
const MCP_HEADERS = { ...JSON_HEADERS, accept: 'application/json, text/event-stream' };

type Kind = 'data' | 'call' | 'former' | 'list';
type Sample = { what: string; path: string; headers: Record<string, string>; body: string; answer: string };

const message = (method: string, params: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });

const RUN_QUERY = { name: 'run_query', arguments: { query: QUERY } };
/** What each request of MCP 2026-07-28 says of its sender. */
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

const today = (method: string, name: string | undefined, params: object) => ({
  path: '/mcp',
  headers: {
    ...MCP_HEADERS,
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(name !== undefined && { 'mcp-name': name }),
  },
  body: message(method, { ...params, _meta: META }),
});

const SAMPLES: Readonly<Record<Kind, Sample>> = {
  data: {
    what: 'a data call',
    path: '/graphql',
    headers: JSON_HEADERS,
    body: JSON.stringify({ query: QUERY }),
    answer: '"data":',
  },
  call: {
    what: 'run_query of the same query',
    ...today('tools/call', 'run_query', RUN_QUERY),
    answer: 'Cost: ',
  },
  former: {
    what: 'run_query by MCP of 2025',
    path: '/mcp',
    headers: MCP_HEADERS,
    body: message('tools/call', RUN_QUERY),
    answer: 'Cost: ',
  },
  list: { what: 'the list of tools', ...today('tools/list', undefined, {}), answer: '"run_query"' },
};
const KINDS = Object.keys(SAMPLES) as Kind[];

type Say = (line: string) => void;

/** What the MCP SDK adds to a call: the CPU time of `run_query`, over that of a data call of the same query, in turns. */
export async function measureMcp(servers: Servers, say: Say): Promise<PartResult> {
  const tools = await findTools(servers, say);
  await widenLimits(servers);
  const upstream = await startUpstream(servers, tools);
  const settings = { UPSTREAM_URL: upstream.url, LOG_LEVEL: 'warn', MCP_REQUESTS_PER_MINUTE: '1000000' };
  const { pid, url } = await servers.startFurther('gateway', { settings });
  const bearers = await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => (await freshApplication(servers)).token),
  );
  const wrk = createWrk(servers, tools);
  const run = (kind: Kind, seconds: number) => {
    const { path, headers, body } = SAMPLES[kind];
    return wrk({ pid, url: url + path, headers, body, bearers }, { seconds, connections: CONNECTIONS });
  };
  const check = () => Promise.all(KINDS.map((kind) => expectAnswer(url, SAMPLES[kind], bearers[0] ?? '')));
  await check();
  for (const kind of KINDS) await run(kind, WARM_UP_SEC);
  const rounds: Record<Kind, WrkRound[]> = { data: [], call: [], former: [], list: [] };
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (const kind of KINDS) rounds[kind].push(await run(kind, ROUND_SEC));
    const costs = KINDS.map((kind) => `${SAMPLES[kind].what} ${costText(rounds[kind].slice(-1))}`);
    say(`mcp ${String(round)}/${String(ROUNDS)}: ${costs.join(', ')}`);
  }
  await check();
  const ratio = (kind: Kind) =>
    spreadText(spreadOf(rounds[kind].map((each, index) => cpuUs(each) / cpuUs(rounds.data[index] ?? each))));
  return {
    goals: [],
    notes: [
      `${String(ROUNDS)} rounds of ${String(ROUND_SEC)} s of each in turns, ${String(CONNECTIONS)} kept-alive connections of wrk, one account`,
      ...KINDS.map((kind) => {
        const times = kind === 'data' ? '' : `, ${ratio(kind)} times a data call`;
        return `${SAMPLES[kind].what}: ${costText(rounds[kind])} of the gateway${times}`;
      }),
    ],
    versions: tools.versions,
    figures: { rounds },
  };
}

function cpuUs({ serverCpu, perSec }: WrkRound): number {
  return (serverCpu / perSec) * 1_000_000;
}

function costText(rounds: readonly WrkRound[]): string {
  return `${spreadText(spreadOf(rounds.map(cpuUs)), 1)} CPU-µs`;
}

/** @throws {Error} for another answer, such as a refusal, which as the result of a tool is 200 */
async function expectAnswer(url: string, { what, path, headers, body, answer }: Sample, token: string) {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { ...headers, authorization: `Bearer ${token}` },
    body,
    signal: AbortSignal.timeout(10_000),
  });
  const text = await response.text();
  if (response.status !== 200 || !text.includes(answer))
    throw new Error(`${what} is answered by ${String(response.status)}: ${text.slice(0, 500)}`);
}
