import { join } from 'node:path';
import { basic } from '../auth/auth-rates.ts';
import { firstLine } from '../load/first-line.ts';
import { dependency } from '../report/run-facts.ts';
import type { Servers } from '../servers.ts';
import { apachePeer } from './apache.ts';
import { expressGateway } from './express-gateway.ts';
import { nginxLua } from './nginx-lua.ts';
import { startNginx } from './nginx.ts';
import { oathkeeper } from './oathkeeper.ts';
import { startProgram } from './program.ts';
import type { Peer, PeerSetting } from './peer.ts';
import { findApache } from '../tools.ts';
import type { Tools } from '../tools.ts';
import { startTlsRelay } from './tls-relay.ts';
import { tyk } from './tyk.ts';

const RECORDING = { name: 'nginx-lua', path: '/graphql', targetRatio: { one: 2.5, many: 2 } } as const;
const LOGGING = { name: 'nginx-lua-logging', path: '/logged' } as const;

export type Peers = { peers: Peer[]; leftOut: string[] };

/** Starts the peers that this machine can run; the results say why one is missing. */
export async function startPeers(
  servers: Servers,
  tools: Tools,
  { url: upstreamUrl, token }: { url: string; token: string },
  say: (line: string) => void,
): Promise<Peers> {
  const { demo } = servers;
  const setting: PeerSetting = {
    upstreamUrl,
    introspectionUrl: `${demo.private.auth_url}/oauth2/introspect`,
    clientId: demo.private.client_id,
    clientSecret: demo.private.client_secret,
    token,
  };
  const starts: [string, () => Promise<Peer>][] = [
    ['mod_oauth2', () => modOauth2(servers, setting, say)],
    ['express-gateway', () => expressGateway(servers, setting, say)],
    ['nginx', () => nginxPeer(servers, tools, setting)],
    [RECORDING.name, () => nginxLua(servers, setting, RECORDING, say)],
    [LOGGING.name, () => nginxLua(servers, setting, LOGGING, say)],
    ['mod_auth_openidc', () => modAuthOpenidc(servers, tools, setting, say)],
    ['tyk', () => tyk(servers, setting, say)],
    ['oathkeeper', () => oathkeeper(servers, setting)],
    ['http-proxy-middleware', () => httpProxyMiddleware(servers, setting)],
  ];
  const peers: Peer[] = [];
  const leftOut: string[] = [];
  for (const [name, start] of starts) {
    try {
      peers.push(await start());
    } catch (error) {
      leftOut.push(`${name} is left out: ${firstLine(error)}`);
      say(leftOut.at(-1) ?? '');
    }
  }
  return { peers, leftOut };
}

async function modOauth2(servers: Servers, setting: PeerSetting, say: (line: string) => void): Promise<Peer> {
  const tools = await findApache(servers, say);
  return {
    door: await apachePeer('mod_oauth2', servers, tools, { ...setting, template: 'mod_oauth2/apache.conf' }),
    version: tools.versions.mod_oauth2,
    targetRatio: { one: 2 },
  };
}

async function modAuthOpenidc(
  servers: Servers,
  { openssl, env }: Tools,
  setting: PeerSetting,
  say: (line: string) => void,
): Promise<Peer> {
  const tools = await findApache(servers, say);
  const introspectionUrl = await startTlsRelay(servers, { openssl, env }, setting.introspectionUrl);
  return {
    door: await apachePeer('mod_auth_openidc', servers, tools, {
      ...setting,
      introspectionUrl,
      template: 'mod_auth_openidc/apache.conf',
    }),
    version: tools.versions.mod_auth_openidc,
    targetRatio: { one: 2 },
  };
}

async function nginxPeer(servers: Servers, tools: Tools, setting: PeerSetting): Promise<Peer> {
  const { authorization = '' } = basic(setting.clientId, setting.clientSecret);
  const door = await startNginx(servers, tools, {
    name: 'nginx',
    template: 'nginx/nginx.conf',
    place: servers.places?.server,
    values: {
      UPSTREAM: new URL(setting.upstreamUrl).host,
      INTROSPECTION: setting.introspectionUrl,
      BASIC: authorization,
    },
  });
  return { door, version: tools.versions.nginx, targetRatio: { one: 0.7 } };
}

async function httpProxyMiddleware(servers: Servers, { upstreamUrl }: PeerSetting): Promise<Peer> {
  const door = await startProgram(servers, {
    name: 'http-proxy-middleware',
    place: servers.places?.server,
    command: (port) => ({
      args: [process.execPath, join(servers.project, 'bench/peers/http-proxy-middleware/server.ts')],
      env: { NODE_ENV: 'production', PORT: String(port), UPSTREAM: new URL(upstreamUrl).origin },
    }),
  });
  return { door, version: dependency('../../package.json', 'http-proxy-middleware') };
}
