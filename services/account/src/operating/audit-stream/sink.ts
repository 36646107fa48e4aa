import { hostname } from 'node:os';
import { connect } from 'node:tls';
import { Agent } from 'undici';
import { send } from '../../notifications/deliveries/send.ts';
import { signedHeaders } from '../../notifications/secrets/secret.ts';
import type { Logged } from '../audit-entries.ts';

/** Where the audit log is streamed to. */
export type AuditSink = {
  /** Null once the sink has taken them all; otherwise why not. Never throws. */
  deliver: (entries: readonly Logged[], stopping: AbortSignal) => Promise<string | null>;
  close: () => Promise<void>;
};

const CONNECT_TIMEOUT_MS = 5_000;

export type SinkOptions = { url: string; secrets: readonly string[]; attemptTimeoutMs: number };

export function createAuditSink(options: SinkOptions): AuditSink {
  return options.url.startsWith('syslog+tls:') ? syslogSink(options) : webhookSink(options);
}

/** Signed as customers' webhooks are (docs/webhooks.md). */
function webhookSink({ url, secrets, attemptTimeoutMs }: SinkOptions): AuditSink {
  // The operators' own server: unlike customers', it may have a private address.
  const agent = new Agent({ connect: { timeout: CONNECT_TIMEOUT_MS } });
  return {
    deliver: async (entries, stopping) => {
      const payload = JSON.stringify({ type: 'audit_log.entries', entries });
      // The same entries have the same id each time, and others never have it: what was not taken is sent again in full.
      const ids = [entries.at(0)?.audit_id, entries.at(-1)?.audit_id, entries.length].map(String);
      const message_id = `audit_${ids.join('_')}`;
      const headers = signedHeaders({ message_id, payload }, secrets, new Date());
      const { error, response_status } = await send(
        { agent, attemptTimeoutMs, stopping },
        { url, headers, payload },
      );
      return error === null ? null : [error, response_status].filter((part) => part !== null).join(' ');
    },
    close: () => agent.destroy(),
  };
}

/** Facility 13 (log audit), severity 6 (informational): 13 × 8 + 6. */
const PRIORITY = 110;

/** RFC 5424, its message as JSON, in the frames of RFC 5425. */
function syslogFrame(entry: Logged, host: string): Buffer {
  const { at, action, audit_id } = entry;
  const header = `<${String(PRIORITY)}>1 ${at.toISOString()} ${host} tollgate ${String(audit_id)} ${action.slice(0, 32)} -`;
  const message = Buffer.from(`${header} \u{feff}${JSON.stringify(entry)}`);
  return Buffer.concat([Buffer.from(`${String(message.length)} `), message]);
}

/**
 * Syslog has no answer. So each batch has a connection of its own, and counts as taken once the server has closed it in
 * turn: it has read until our end then.
 */
function syslogSink({ url, attemptTimeoutMs }: SinkOptions): AuditSink {
  const { hostname: host, port } = new URL(url);
  const name = hostname().replaceAll(/[^!-~]/g, '') || '-';
  const server = { host: host.replace(/^\[(.*)\]$/, '$1'), port: port === '' ? 6_514 : Number(port) };
  return {
    deliver: (entries, stopping) =>
      new Promise((resolve) => {
        // A listener that is added now would not be called.
        if (stopping.aborted) {
          resolve('timeout');
          return;
        }
        const socket = connect({ ...server, servername: server.host });
        const signal = AbortSignal.any([AbortSignal.timeout(attemptTimeoutMs), stopping]);
        const give = (outcome: string | null) => {
          signal.removeEventListener('abort', onAbort);
          socket.destroy();
          resolve(outcome);
        };
        const onAbort = () => {
          give('timeout');
        };
        signal.addEventListener('abort', onAbort);
        let isWritten = false;
        socket.once('error', (error: NodeJS.ErrnoException) => {
          give(error.code ?? 'connection_failed');
        });
        socket.once('end', () => {
          give(isWritten ? null : 'connection_closed');
        });
        socket.once('close', () => {
          give('connection_closed');
        });
        socket.once('secureConnect', () => {
          socket.resume();
          socket.end(Buffer.concat(entries.map((entry) => syslogFrame(entry, name))), () => {
            isWritten = true;
          });
        });
      }),
    close: () => Promise.resolve(),
  };
}
