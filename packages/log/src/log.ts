import { pino } from 'pino';
import type { DestinationStream, Logger } from 'pino';

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

/**
 * An access token, whatever its prefix (packages/access-token), and the password of a URL. The first line of
 * defence is not to log them; this second one catches the token that a library put into its error message.
 *
 * Neither wants a word boundary: in `%3Dtg_…` there is none before the token. A token's prefix stays, because
 * the `n` of a JSON escape `\n` before it looks like a part of it. All repetitions are bounded: a caller
 * chooses the path that is logged, and must not choose how long the search takes.
 */
const TOKEN = /_[0-9A-Za-z]{22}_[0-9A-Za-z]{49}/g;
const URL_PASSWORD = /([a-z][a-z0-9+.-]{0,30}:\/\/[^\s:@/"]{0,256}):(?:\\.|[^\s"\\]){1,512}@/gi;

/** Replaces what looks like a token or a URL's password, in a line of JSON or plain text. */
export function redact(line: string): string {
  return line.replace(TOKEN, '_[token]').replace(URL_PASSWORD, '$1:[password]@');
}

/** A JSON logger, on stdout by default. Every line carries `service`; secrets and tokens are redacted. */
export function createLogger(
  service: string,
  level: string,
  destination: DestinationStream = process.stdout,
): Logger {
  return pino(
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
    {
      write: (line) => {
        destination.write(redact(line));
      },
    },
  );
}
