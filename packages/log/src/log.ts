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
 */
const TOKEN = /\b[a-z][a-z0-9]{0,15}_[0-9A-Za-z]{22}_[0-9A-Za-z]{49}\b/g;
const URL_PASSWORD = /(\b[a-z][a-z0-9+.-]*:\/\/[^\s:@/"]*):[^\s@/"]+@/g;

/** Replaces what looks like a token or a URL's password. */
export function redact(line: string): string {
  return line.replace(TOKEN, '[token]').replace(URL_PASSWORD, '$1:[password]@');
}

const stdout: DestinationStream = {
  write: (line) => {
    process.stdout.write(redact(line));
  },
};

/** A JSON logger on stdout. Every line carries `service`; secrets and tokens are redacted. */
export function createLogger(
  service: string,
  level: string,
  destination: DestinationStream = stdout,
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
    destination,
  );
}
