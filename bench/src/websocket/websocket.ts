import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { accessToken } from '../auth/auth-rates.ts';
import { withCpu } from '../cores.ts';
import { startProgram } from '../gateway/program.ts';
import type { PartResult } from '../part.ts';
import { percent, whole } from '../report/ratios.ts';
import type { Servers } from '../servers.ts';
import { widenLimits } from '../usage/wide-limits.ts';
import { openSockets, subscribe } from './callers.ts';
import type { Relayed } from './callers.ts';
import { TICKS_PER_SEC, startTickingUpstream } from './upstream.ts';

const IDLE_SOCKETS = 5_000;
const SUBSCRIPTIONS = 200;
const SECONDS = 10;
const GOAL_RSS_MB = 300;

type Relay = { name: string; pid: number; url: string };

type Side = {
  name: string;
  rssMbBefore: number;
  rssMbIdle: number;
  relayed: Relayed;
  cpu: number;
};

/**
 * Idle WebSockets and open subscriptions through the gateway, and through a bare relay with the same library.
 */
export async function measureWebsocket(servers: Servers, say: (line: string) => void): Promise<PartResult> {
  await widenLimits(servers);
  const upstream = await startTickingUpstream();
  try {
    const token = await accessToken(servers);
    const ours = await measureRelay(await startOurs(servers, upstream.url), token);
    say(`websocket: ours ${sideText(ours)}`);
    const peer = await measureRelay(await startPeer(servers, upstream.url), token);
    say(`websocket: ws ${sideText(peer)}`);
    const lost = ours.relayed.expected - ours.relayed.received + ours.relayed.outOfOrder;
    return {
      goals: [
        {
          what: `MB of the gateway with ${String(IDLE_SOCKETS)} idle WebSockets`,
          figure: whole(ours.rssMbIdle),
          target: `< ${String(GOAL_RSS_MB)}`,
          reached: ours.rssMbIdle < GOAL_RSS_MB,
        },
        {
          what: `messages lost or out of order of ${String(SUBSCRIPTIONS)} subscriptions at ${String(TICKS_PER_SEC)}/s each`,
          figure: String(lost),
          target: '0',
          reached: lost === 0,
        },
      ],
      notes: [
        `${String(SUBSCRIPTIONS)} subscriptions for ${String(SECONDS)} s while ${String(IDLE_SOCKETS)} sockets are idle; callers and upstream are one process on the other core`,
        `ours: ${sideText(ours)}`,
        `a bare relay on ws (an idle socket has its upstream's beside it; ours connects there at the first operation): ${sideText(peer)}`,
      ],
      figures: { ours, peer },
    };
  } finally {
    upstream.close();
  }
}

async function startOurs(servers: Servers, upstreamUrl: string): Promise<Relay> {
  const { pid, url } = await servers.startFurther('gateway', {
    settings: {
      LOG_LEVEL: 'warn',
      UPSTREAM_WS_URL: upstreamUrl,
      WEBSOCKET_MAX_SOCKETS_PER_ACCOUNT: '20000',
    },
  });
  return { name: 'ours', pid, url: `${url}/graphql` };
}

function startPeer(servers: Servers, upstreamUrl: string): Promise<Relay> {
  return startProgram(servers, {
    name: 'ws',
    place: servers.places?.server,
    command: (port) => ({
      args: [process.execPath, join(servers.project, 'bench/peers/ws/server.ts')],
      env: { NODE_ENV: 'production', PORT: String(port), UPSTREAM: upstreamUrl },
    }),
  });
}

async function measureRelay({ name, pid, url }: Relay, token: string): Promise<Side> {
  const rssMbBefore = rssMb(pid);
  const idle = await openSockets(url, token, IDLE_SOCKETS);
  // By then, garbage is collected and each socket has answered a ping.
  await delay(3_000);
  const rssMbIdle = rssMb(pid);
  const active = await openSockets(url, token, SUBSCRIPTIONS);
  const { result: relayed, cpu } = await withCpu(pid, () => subscribe(active, SECONDS));
  if (idle.some((socket) => socket.readyState !== socket.OPEN)) throw new Error('an idle socket was closed');
  for (const socket of [...idle, ...active]) socket.terminate();
  return { name, rssMbBefore, rssMbIdle, relayed, cpu };
}

function rssMb(pid: number): number {
  const status = readFileSync(`/proc/${String(pid)}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1_024;
}

function sideText({ rssMbBefore, rssMbIdle, relayed, cpu }: Side): string {
  const kbEach = ((rssMbIdle - rssMbBefore) * 1_024) / IDLE_SOCKETS;
  const { received, expected, perSec } = relayed;
  return (
    `${whole(rssMbBefore)} MB before, ${whole(rssMbIdle)} MB with ${String(IDLE_SOCKETS)} idle sockets (${kbEach.toFixed(1)} KB each); ` +
    `${String(received)} of ${String(expected)} messages, ${whole(perSec)}/s by ${percent(cpu)} of its core`
  );
}
