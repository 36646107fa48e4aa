import type { DnsServer } from '@tollgate/testbed/dns-server';
import type { OidcProvider } from '@tollgate/testbed/oidc-provider';

/** What `.tollgate/demo.json` holds: all that a script needs to use a running stack. */
export type Demo = {
  auth_url: string;
  account_url: string;
  streaming_url: string;
  console: { url: string; email: string; password: string };
  account_id: number;
  application: DemoApplication;
  member: { account_id: number; email: string; password: string } & DemoApplication;
  private: {
    auth_url: string;
    account_url: string;
    gateway_url: string;
    /** A service credential good for introspection. */
    client_id: string;
    client_secret: string;
  };
};

export type DemoApplication = { application_id: number; client_id: string; client_secret: string };

export type Part = 'auth' | 'account' | 'gateway' | 'upstream' | 'redis' | 'postgres';

/** A whole running Tollgate: processes, containers, or the chart in a cluster. The demo's addresses stay valid over kill and start. */
export type Stack = {
  kind: 'processes' | 'containers' | 'cluster';
  demo: Demo;
  /** SIGKILL; resolves when the part is gone. */
  kill: (part: Part) => Promise<void>;
  /** Starts a killed part again, on its data; resolves when it answers. */
  start: (part: Part) => Promise<void>;
  /** The part keeps its connections and does nothing until it is resumed. */
  pause: (part: Part) => Promise<void>;
  resume: (part: Part) => Promise<void>;
  /** The sample payment server, for what customers, banks and time do there; only of processes. */
  payments?: { url: string; secretKey: string };
  /** By which operators sign in: the groups of each name; only of processes. */
  identityProvider?: OidcProvider;
  /** What the stack's account asks for records; over processes only. */
  dns?: DnsServer;
  /** Only of processes. */
  postgresUrl?: string;
  /** The raw messages that were sent, in any order; the stack's mail goes to files. */
  mails: () => Promise<string[]>;
  /** Redis loses all keys of auth, as FLUSHALL would take them; usage that isn't counted yet stays. */
  forgetTokens: () => Promise<void>;
  /** Keeps the database as it is now, in the place of an earlier backup. */
  backUpPostgres: () => Promise<void>;
  /** The database is again what it was at the backup; all else goes on. */
  restorePostgres: () => Promise<void>;
  /** Ends everything and leaves nothing behind. */
  stop: () => Promise<void>;
};

/** Deletes auth's keys in one step, by a script. */
export const FORGET_TOKENS = `for _, key in ipairs(redis.call('KEYS', 'auth:*')) do redis.call('DEL', key) end`;
