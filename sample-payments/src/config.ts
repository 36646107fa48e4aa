import { isIP } from 'node:net';

export type Config = {
  host: string;
  port: number;
  /** What callers authenticate with. */
  secretKey: string;
  /** Where events go; null for nowhere. */
  webhook: { url: string; secret: string } | null;
  /** File that keeps the state over restarts; null for memory only. */
  statePath: string | null;
};

/** One line per fault, without the values. */
export class ConfigError extends Error {}

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|::1)$/;

/**
 * HOST defaults to 127.0.0.1 and may only be a loopback address: anyone who reaches the server can "pay".
 * @throws {ConfigError} naming every setting that is wrong
 */
export function loadConfig(env: Readonly<Record<string, string | undefined>> = process.env): Config {
  const host = env['HOST'] ?? '127.0.0.1';
  const port = env['PORT'] ?? '4006';
  const secretKey = env['SECRET_KEY'] ?? '';
  const url = env['WEBHOOK_URL'];
  const secret = env['WEBHOOK_SECRET'] ?? '';
  const faults: string[] = [];
  if (isIP(host) === 0 || !LOOPBACK.test(host)) faults.push('HOST: must be a loopback address');
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)
    faults.push('PORT: must be a whole number from 0 to 65535');
  if (!/^sk_test_\w{16,}$/.test(secretKey)) faults.push('SECRET_KEY: must be a test key, sk_test_…');
  if (url !== undefined && !URL.canParse(url)) faults.push('WEBHOOK_URL: must be a URL');
  if (url !== undefined && !secret.startsWith('whsec_'))
    faults.push('WEBHOOK_SECRET: must begin with whsec_');
  if (faults.length > 0) throw new ConfigError(faults.join('\n'));
  return {
    host,
    port: Number(port),
    secretKey,
    webhook: url === undefined ? null : { url, secret },
    statePath: env['STATE_PATH'] ?? null,
  };
}
