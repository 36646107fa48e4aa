import pg from 'pg';
import { pause } from '../../platform/timing/pause.ts';

const RETRY_MS = 1_000;

const PROBE_INTERVAL_MS = 5_000;
const ANSWER_TIMEOUT_MS = 2_000;

/** Replaces a connection that breaks or hangs; also calls `onNotice` after connecting, for missed notices. */
export function listen(options: { url: string; channel: 'entitlement_outbox'; onNotice: () => void }): {
  close: () => Promise<void>;
} {
  const stopping = new AbortController();
  const { signal } = stopping;

  async function run(): Promise<void> {
    while (!signal.aborted) {
      await listenOnce(options, signal).catch(() => undefined);
      await pause(RETRY_MS, signal);
    }
  }

  const running = run();
  return {
    close: async () => {
      stopping.abort();
      await running;
    },
  };
}

async function listenOnce(
  { url, channel, onNotice }: Parameters<typeof listen>[0],
  signal: AbortSignal,
): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    application_name: `tollgate listens to ${channel}`,
    keepAlive: true,
    connectionTimeoutMillis: ANSWER_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
  });
  const ended = new AbortController();
  client.on('error', () => {
    ended.abort();
  });
  client.on('end', () => {
    ended.abort();
  });
  client.on('notification', onNotice);
  const over = AbortSignal.any([signal, ended.signal]);
  try {
    await client.connect();
    await client.query(`LISTEN ${channel}`);
    onNotice();
    while (!over.aborted) {
      await client.query('SELECT 1');
      await pause(PROBE_INTERVAL_MS, over);
    }
  } finally {
    // Without a reply to Terminate the socket would stay open.
    void client.end().catch(() => undefined);
    client.connection.stream.destroy();
  }
}
