import { pino } from 'pino';
import type { DestinationStream, Logger } from 'pino';
import { currentTrace } from './current-trace.ts';
import { createLines } from './lines.ts';
import { redact } from './redact.ts';

export type { Logger } from 'pino';

/** Redacted down to two levels. */
const SECRET_MEMBERS = [
  'authorization',
  'cookie',
  'password',
  'secret',
  'client_secret',
  'token',
  'access_token',
  'pepper',
];

/** Writes members that aren't searched for SECRET_MEMBERS. */
export type WriteRecord = (
  level: 'debug' | 'info' | 'error',
  members: Readonly<Record<string, unknown>>,
) => void;

const recordWriters = new WeakMap<Logger, WriteRecord>();

/** Writes request lines in the logger's format, but batched and without pino's search through the members. */
export function recordWriter(logger: Logger): WriteRecord {
  const write = recordWriters.get(logger);
  if (write === undefined) throw new Error('not a logger of createLogger');
  return write;
}

/** A JSON logger, on stdout by default, that redacts secrets and tokens. */
export function createLogger(
  service: string,
  level: string,
  destination: DestinationStream = process.stdout,
): Logger {
  const lines = createLines(destination, redact);
  const logger = pino(
    {
      level,
      base: { service },
      // Lines of a traced request.
      mixin: () => traceMember(),
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: SECRET_MEMBERS.flatMap((member) => [member, `*.${member}`, `*.*.${member}`]),
        censor: '[redacted]',
      },
    },
    lines,
  );
  const timeNow = createClock();
  const origin = `","service":${JSON.stringify(service)},`;
  recordWriters.set(logger, (level, members) => {
    if (!logger.isLevelEnabled(level)) return;
    const head = `{"level":"${level}","time":"${timeNow()}${origin}`;
    lines.writeSoon(`${head}${JSON.stringify(members).slice(1)}\n`);
  });
  return logger;
}

/** `trace_id`, if a traced request is being handled. */
export function traceMember(): { trace_id?: string } {
  const trace = currentTrace();
  return trace === undefined ? {} : { trace_id: trace.traceId };
}

/** Formats each millisecond once: formatting is most of a line's cost. */
function createClock(): () => string {
  let atMs = NaN;
  let text = '';
  return () => {
    const nowMs = Date.now();
    if (nowMs !== atMs) {
      atMs = nowMs;
      text = new Date(nowMs).toISOString();
    }
    return text;
  };
}
