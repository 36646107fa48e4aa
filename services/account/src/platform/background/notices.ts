import { pause, startLoop } from '@tollgate/server/background-loop';
import { leadsToReadOnly } from '../database/postgres-server.ts';
import type { PostgresServer } from '../database/postgres-server.ts';

export type Notices = {
  /** `channel` is one of those listened to. Called at each notice, and after connecting, for missed notices. */
  onNotice: (channel: string, callback: () => void) => void;
  /** Whether a notice has arrived on the present connection; some poolers accept LISTEN and pass on none. */
  isHearing: () => boolean;
  close: () => Promise<void>;
};

const RETRY_MS = 1_000;

const PROBE_INTERVAL_MS = 5_000;
const ANSWER_TIMEOUT_MS = 2_000;

/**
 * Receives all notices of this process by one connection, and replaces it if it breaks, hangs, becomes too old or leads
 * to a server that has become read-only. `notify` sends a
 * notice on one of the channels by another connection.
 */
export function startNotices(options: {
  server: PostgresServer;
  channels: readonly string[];
  notify: () => Promise<unknown>;
}): Notices {
  const callbacks: { channel: string; callback: () => void }[] = [];
  let hearing = false;

  function onConnected(): void {
    for (const { callback } of callbacks) callback();
  }

  function onNotice(noticed: string): void {
    hearing = true;
    for (const { channel, callback } of callbacks) if (channel === noticed) callback();
  }

  async function probe(): Promise<void> {
    if (!hearing) await options.notify().catch(() => undefined);
  }

  const loop = startLoop(async (signal) => {
    await listenOnce({ ...options, onConnected, onNotice, probe }, signal).catch(() => undefined);
    hearing = false;
    return RETRY_MS;
  });
  return {
    onNotice: (channel, callback) => {
      callbacks.push({ channel, callback });
    },
    isHearing: () => hearing,
    close: loop.close,
  };
}

async function listenOnce(
  on: {
    server: PostgresServer;
    channels: readonly string[];
    onConnected: () => void;
    onNotice: (channel: string) => void;
    probe: () => Promise<void>;
  },
  signal: AbortSignal,
): Promise<void> {
  const { server } = on;
  const client = await server.connect({
    application_name: 'tollgate listens',
    connectTimeoutMs: ANSWER_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
  });
  const ended = new AbortController();
  client.on('error', () => {
    ended.abort();
  });
  client.on('end', () => {
    ended.abort();
  });
  client.on('notification', ({ channel }) => {
    on.onNotice(channel);
  });
  const tooOld = AbortSignal.timeout(server.connectionMaxAgeMs);
  const over = AbortSignal.any([signal, ended.signal, tooOld]);
  try {
    await client.query(on.channels.map((channel) => `LISTEN ${channel}`).join('; '));
    on.onConnected();
    while (!over.aborted) {
      if (!server.isUsable(client) || (await leadsToReadOnly(client))) return;
      await on.probe();
      await pause(PROBE_INTERVAL_MS, over);
    }
  } finally {
    // Without a reply to Terminate the socket would stay open.
    void client.end().catch(() => undefined);
    client.connection.stream.destroy();
  }
}
