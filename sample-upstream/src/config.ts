export type Config = { host: string; port: number; shutdownDelayMs: number };

/** One line per fault, without the values. */
export class ConfigError extends Error {}

/** HOST defaults to 127.0.0.1, PORT to 4003, SHUTDOWN_DELAY_MS to 0. @throws {ConfigError} naming every setting that is wrong */
export function loadConfig(env: Readonly<Record<string, string | undefined>> = process.env): Config {
  const host = env['HOST'] ?? '127.0.0.1';
  const port = env['PORT'] ?? '4003';
  const shutdownDelayMs = env['SHUTDOWN_DELAY_MS'] ?? '0';
  const faults = [
    ...(host.trim() === '' ? ['HOST: must be an address to listen on'] : []),
    ...(/^\d{1,5}$/.test(port) && Number(port) <= 65_535
      ? []
      : ['PORT: must be a whole number from 0 to 65535']),
    ...(/^\d{1,6}$/.test(shutdownDelayMs)
      ? []
      : ['SHUTDOWN_DELAY_MS: must be a whole number of milliseconds']),
  ];
  if (faults.length > 0) throw new ConfigError(faults.join('\n'));
  return { host, port: Number(port), shutdownDelayMs: Number(shutdownDelayMs) };
}
