import { pino } from 'pino';
import type { DestinationStream, Logger } from 'pino';
import { createLines } from './lines.ts';
import { redact } from './redact.ts';

export type { Logger } from 'pino';

/** Members that may hold a secret, wherever a log call puts them (two levels deep). */
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

/** A message with members that can hold no secret by their names: they aren't searched for any. */
export type WriteRecord = (
  level: 'debug' | 'info' | 'error',
  members: Readonly<Record<string, unknown>>,
) => void;

const recordWriters = new WeakMap<Logger, WriteRecord>();

/**
 * How a logger of createLogger writes the lines of requests: as its own lines look, text redacted like theirs,
 * but without pino's search through the members, and those of one turn of the event loop in one write.
 */
export function recordWriter(logger: Logger): WriteRecord {
  const write = recordWriters.get(logger);
  if (write === undefined) throw new Error('not a logger of createLogger');
  return write;
}

/** A JSON logger, on stdout by default. Every line carries `service`; secrets and tokens are redacted. */
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

/** The time as a line says it: many lines fall into one millisecond, and to format it is most of such a line. */
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
