/** How the server's certificate is checked. There is no mode that falls back to a connection without TLS. */
type TlsMode = 'disable' | 'no-verify' | 'verify-ca' | 'verify-full';

export type PostgresEndpoint = { host: string; port: number };

export type DatabaseAddress = {
  endpoints: readonly PostgresEndpoint[];
  user: string | undefined;
  password: string | undefined;
  database: string | undefined;
  /** Undefined if the URL names none. */
  tlsMode: TlsMode | undefined;
  /** TLS without asking for it first, as behind proxies that route by name. */
  tlsAtOnce: boolean;
  /** Only a server that takes writes is used; always so with several hosts. */
  mustTakeWrites: boolean;
  applicationName: string | undefined;
  /** As the startup message's `options`. */
  options: string | undefined;
};

/** Several hosts in one authority, which URL can't parse. */
const CONNECTION_URI =
  /^postgres(?:ql)?:\/\/(?:(?<login>[^@/?#]*)@)?(?<hosts>[^@/?#]+)(?:\/(?<database>[^?#]*))?(?:\?(?<query>[^#]*))?$/;

/** By the names of libpq; `require` verifies too, because an unverified server gets the password. */
const TLS_MODES: Readonly<Record<string, TlsMode>> = {
  disable: 'disable',
  'no-verify': 'no-verify',
  'verify-ca': 'verify-ca',
  require: 'verify-full',
  'verify-full': 'verify-full',
};

const PARAMETERS = ['sslmode', 'sslnegotiation', 'target_session_attrs', 'application_name', 'options'];

/** What other clients read from the URL, and Tollgate from a setting. */
const SETTINGS: Readonly<Record<string, string>> = {
  sslrootcert: 'DATABASE_TLS_CA_FILE',
  sslcert: 'DATABASE_TLS_CERTIFICATE_FILE',
  sslkey: 'DATABASE_TLS_KEY_FILE',
};

/**
 * Reads a libpq connection URI, `postgres[ql]://[user[:password]@]host[:port],…/database[?parameter=…]`.
 * @throws {Error} that doesn't repeat the URL, which may contain a password
 */
export function parseDatabaseUrl(text: string): DatabaseAddress {
  const parts = CONNECTION_URI.exec(text)?.groups;
  if (parts === undefined) {
    throw new Error('must be a URL that starts with postgres:// or postgresql://, and name its hosts');
  }
  const { login, hosts = '', database = '', query } = parts;
  const parameters = readParameters(new URLSearchParams(query));
  const endpoints = hosts.split(',').map(readEndpoint);
  const colon = login?.indexOf(':') ?? -1;
  return {
    endpoints,
    user: decode(colon < 0 ? login : login?.slice(0, colon)),
    password: colon < 0 ? undefined : decode(login?.slice(colon + 1)),
    database: decode(database),
    ...parameters,
    mustTakeWrites: parameters.mustTakeWrites || endpoints.length > 1,
  };
}

function readEndpoint(text: string): PostgresEndpoint {
  const url = /^[\w.:[\]-]+$/.test(text) ? URL.parse(`postgres://${text}`) : null;
  if (url === null || url.hostname === '' || url.port === '0') {
    throw new Error('must name its hosts as host or host:port, separated by commas');
  }
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? 5_432 : Number(url.port),
  };
}

function readParameters(
  parameters: URLSearchParams,
): Pick<DatabaseAddress, 'tlsMode' | 'tlsAtOnce' | 'mustTakeWrites' | 'applicationName' | 'options'> {
  for (const name of parameters.keys()) {
    if (PARAMETERS.includes(name)) continue;
    const setting = SETTINGS[name];
    if (setting !== undefined) throw new Error(`must not have the parameter ${name}: set ${setting} instead`);
    throw new Error(`must have no parameters but ${PARAMETERS.join(', ')}`);
  }
  const oneOf = (name: string, allowed: readonly string[]): string | undefined => {
    const value = parameters.get(name) ?? undefined;
    if (value === undefined || allowed.includes(value)) return value;
    throw new Error(`must have ${allowed.join(', ')} as its parameter ${name}`);
  };
  const mode = oneOf('sslmode', Object.keys(TLS_MODES));
  const tlsMode = mode === undefined ? undefined : TLS_MODES[mode];
  const tlsAtOnce = oneOf('sslnegotiation', ['postgres', 'direct']) === 'direct';
  if (tlsAtOnce && (tlsMode === undefined || tlsMode === 'disable')) {
    throw new Error('must have an sslmode with TLS beside sslnegotiation=direct');
  }
  return {
    tlsMode,
    tlsAtOnce,
    mustTakeWrites: oneOf('target_session_attrs', ['read-write', 'primary']) !== undefined,
    applicationName: parameters.get('application_name') ?? undefined,
    options: parameters.get('options') ?? undefined,
  };
}

function decode(part: string | undefined): string | undefined {
  if (part === undefined || part === '') return undefined;
  try {
    return decodeURIComponent(part);
  } catch {
    throw new Error('must have its user, password and database percent-encoded');
  }
}
