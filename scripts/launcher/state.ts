import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type StatePaths = {
  lock: string;
  secrets: string;
  ledger: string;
  demo: string;
  logs: string;
  /** Mails that account would send by SMTP. */
  mail: string;
  data: string;
  postgresData: string;
  redisData: string;
  /** What was bought at the sample payments. */
  payments: string;
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
    payments: join(directory, 'data/payments.json'),
  };
}

export function makeStateDirectory(directory: string): void {
  mkdirSync(statePaths(directory).logs, { recursive: true });
  mkdirSync(statePaths(directory).data, { recursive: true });
}

/** Each start writes new logs, so that they don't grow without bound. */
export function clearLogs(directory: string): void {
  for (const file of readdirSync(directory)) {
    if (file.endsWith('.log')) rmSync(join(directory, file));
  }
}

/** Atomic and private: a reader finds the old or the new file, never a part. */
export function writePrivateFile(file: string, content: unknown): void {
  const temporary = `${file}.${String(process.pid)}`;
  writeFileSync(temporary, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  renameSync(temporary, file);
}

/** Undefined without a file, or without JSON in it. */
export function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}
