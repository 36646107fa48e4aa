import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the launcher keeps in its directory. */
export type StatePaths = {
  /** A directory. */
  lock: string;
  secrets: string;
  ledger: string;
  demo: string;
  logs: string;
  /** Mails that account would send by SMTP, once there are any. */
  mail: string;
  data: string;
  postgresData: string;
  redisData: string;
};

export function statePaths(directory: string): StatePaths {
  return {
    lock: join(directory, 'launchers'),
    secrets: join(directory, 'secrets.json'),
    ledger: join(directory, 'processes.json'),
    demo: join(directory, 'demo.json'),
    logs: join(directory, 'logs'),
    mail: join(directory, 'mail'),
    data: join(directory, 'data'),
    postgresData: join(directory, 'data/postgres'),
    redisData: join(directory, 'data/redis'),
  };
}

export function makeStateDirectory(directory: string): void {
  mkdirSync(statePaths(directory).logs, { recursive: true });
  mkdirSync(statePaths(directory).data, { recursive: true });
}

/** Each start writes its logs anew, so that they don't grow for ever. */
export function clearLogs(directory: string): void {
  for (const file of readdirSync(directory)) {
    if (file.endsWith('.log')) rmSync(join(directory, file));
  }
}

/** Writes a file that only we may read, so that a reader finds the old or the new one and never a part. */
export function writePrivateFile(file: string, content: unknown): void {
  const temporary = `${file}.${String(process.pid)}`;
  writeFileSync(temporary, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  renameSync(temporary, file);
}

/** A file's JSON; undefined where there is no file, or no JSON in it. */
export function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}
