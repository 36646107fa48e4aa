import { once } from 'node:events';
import { createApi } from './api/client.ts';
import type { Api, ReasonHeader } from './api/client.ts';
import { createReporter } from './api/reporter.ts';
import type { Reporter } from './api/reporter.ts';
import { connectionFrom } from './config.ts';
import type { LocalStack } from './config.ts';
import { usageFault } from './failures.ts';

/** What a command works with. */
export type Session = {
  /** Requests that change something have the reason of `--reason`. */
  api: Api;
  /** For operations that need a reason. @throws {Failure} usage, without `--reason` */
  needReason: () => ReasonHeader;
  /** Reports usage to the same address, where a credential for that is known. */
  reporter: Reporter | undefined;
  /** Where the address was taken from a stack of `npm start`. */
  local: LocalStack | undefined;
  json: boolean;
  /** Writes lines to stdout. */
  print: (lines: readonly string[]) => Promise<void>;
  /** Writes an answer as the API gave it, with --json; else what people read of it. */
  show: (answer: object | undefined, lines: () => readonly string[]) => Promise<void>;
};

/** The options that every command has. */
export type GlobalOptions = {
  url?: string;
  credentialFile?: string;
  json?: boolean;
  timeout: number;
  reason?: string;
};

/** What a process has; a suite that runs commands within its own gives others. */
export type Surroundings = {
  env?: Readonly<Record<string, string>>;
  print?: Session['print'];
};

/** Opened by a command when its own arguments are right. */
export type Open = () => Session;

/** @throws {Failure} usage, where it isn't said whom to ask */
export function openSession(
  { url, credentialFile, json = false, timeout, reason: given }: GlobalOptions,
  { env, print = printToStdout }: Surroundings = {},
): Session {
  const connection = connectionFrom({ url, credentialFile }, env);
  const { url: baseUrl, reporter } = connection;
  const timeoutMs = timeout * 1_000;
  const reason = given === undefined ? undefined : { 'X-Reason': encodeURIComponent(given) };
  return {
    api: createApi(connection, { timeoutMs, reason }),
    needReason: () => {
      if (reason === undefined) throw usageFault('Say why with --reason; the audit log keeps it.');
      return reason;
    },
    reporter:
      reporter === undefined
        ? undefined
        : createReporter({ url: baseUrl, authorization: reporter }, timeoutMs),
    local: connection.local,
    json,
    print,
    show: async (answer, lines) => {
      // What was deleted has no body.
      if (!json) await print(lines());
      else if (answer !== undefined) await print([JSON.stringify(answer)]);
    },
  };
}

async function printToStdout(lines: readonly string[]): Promise<void> {
  if (lines.length === 0) return;
  if (!process.stdout.write(`${lines.join('\n')}\n`)) await once(process.stdout, 'drain');
}
