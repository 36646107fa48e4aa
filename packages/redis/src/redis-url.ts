export type RedisEndpoint = { host: string; port: number };

export type Login = { username?: string; password?: string };

export type RedisAddress =
  | { topology: 'standalone'; tls: boolean; url: string }
  | { topology: 'cluster'; tls: boolean; nodes: RedisEndpoint[]; login: Login }
  | {
      topology: 'sentinel';
      tls: boolean;
      sentinels: RedisEndpoint[];
      masterName: string;
      db: number;
      login: Login;
      sentinelLogin: Login;
    };

export const REDIS_SCHEMES = [
  'redis:',
  'rediss:',
  'redis+sentinel:',
  'rediss+sentinel:',
  'redis+cluster:',
  'rediss+cluster:',
] as const;

/** Several hosts in one authority, which URL can't parse. */
const SEVERAL_HOSTS =
  /^(?<scheme>rediss?)\+(?<topology>sentinel|cluster):\/\/(?:(?<user>[^@/?#]*)@)?(?<hosts>[^@/?#]+)(?<path>\/[^?#]*)?(?<query>\?[^#]*)?$/;

const ENDPOINT = /^(?<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(?<port>\d{1,5}))?$/;

/**
 * Reads `redis[s]://…`, `redis[s]+cluster://[user:password@]host:port,…` and
 * `redis[s]+sentinel://[user:password@]host:port,…/<master name>[?db=…&sentinelUsername=…&sentinelPassword=…]`.
 * Sentinels use the servers' login unless the query has one.
 * @throws {Error} that doesn't repeat the URL, which may contain a password
 */
export function parseRedisUrl(text: string): RedisAddress {
  const several = SEVERAL_HOSTS.exec(text)?.groups;
  if (several === undefined) return standalone(text);
  const { scheme, topology, user, hosts = '', path = '', query = '' } = several;
  const tls = scheme === 'rediss';
  const login = readLogin(user);
  const parameters = new URLSearchParams(query);
  if (topology === 'cluster') {
    if (path.length > 1 || parameters.size > 0) {
      throw new Error(
        'must end after the last host: a Redis Cluster has no database number and no parameters',
      );
    }
    return { topology, tls, nodes: readEndpoints(hosts, 6_379), login };
  }
  const masterName = decode(path.slice(1));
  if (masterName === '') throw new Error('must name the master after the sentinels, as in …:26379/mymaster');
  return {
    topology: 'sentinel',
    tls,
    sentinels: readEndpoints(hosts, 26_379),
    masterName,
    login,
    ...readParameters(parameters, login),
  };
}

function standalone(text: string): RedisAddress {
  const url = URL.parse(text);
  if (url === null || !/^rediss?:$/.test(url.protocol) || url.hostname === '') {
    throw new Error(
      `must be a URL that starts with ${REDIS_SCHEMES.map((scheme) => `${scheme}//`).join(', ')}, and name its hosts`,
    );
  }
  return { topology: 'standalone', tls: url.protocol === 'rediss:', url: text };
}

function readEndpoints(hosts: string, defaultPort: number): RedisEndpoint[] {
  return hosts.split(',').map((endpoint) => {
    const { host, port = String(defaultPort) } = ENDPOINT.exec(endpoint)?.groups ?? {};
    if (host === undefined || Number(port) < 1 || Number(port) > 65_535) {
      throw new Error('must name its hosts as host:port, separated by commas');
    }
    return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
  });
}

function readLogin(user: string | undefined): Login {
  if (user === undefined) return {};
  const colon = user.indexOf(':');
  return loginOf(colon < 0 ? user : user.slice(0, colon), colon < 0 ? '' : user.slice(colon + 1), decode);
}

function readParameters(parameters: URLSearchParams, login: Login): { db: number; sentinelLogin: Login } {
  for (const name of parameters.keys()) {
    if (!['db', 'sentinelUsername', 'sentinelPassword'].includes(name)) {
      throw new Error('must have no parameters but db, sentinelUsername and sentinelPassword');
    }
  }
  const db = parameters.get('db') ?? '0';
  if (!/^\d{1,5}$/.test(db)) throw new Error('must have a database number as its parameter db');
  const [username, password] = [parameters.get('sentinelUsername'), parameters.get('sentinelPassword')];
  const sentinelLogin =
    username === null && password === null ? login : loginOf(username ?? '', password ?? '', (part) => part);
  return { db: Number(db), sentinelLogin };
}

function loginOf(username: string, password: string, read: (part: string) => string): Login {
  return {
    ...(username === '' ? {} : { username: read(username) }),
    ...(password === '' ? {} : { password: read(password) }),
  };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new Error('must have its user, password and master name percent-encoded');
  }
}
