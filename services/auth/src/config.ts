import { z } from 'zod';
import { TOKEN_PREFIX_PATTERN } from '@tollgate/access-token';
import { pepperSetting } from '@tollgate/client-secret';
import { readConfig } from '@tollgate/config';
import {
  callerSettings,
  connectionUrl,
  httpUrl,
  processSettings,
  wholeNumber,
} from '@tollgate/config/settings';

const schema = z.object({
  ...processSettings,
  ...callerSettings,
  REDIS_URL: connectionUrl('redis:', 'rediss:'),
  ACCOUNT_PRIVATE_URL: httpUrl,
  PRIVATE_API_TIMEOUT_MS: wholeNumber(1, 60_000).default(2_000),
  CLIENT_SECRET_PEPPERS: pepperSetting,
  CLIENT_CACHE_TTL_MS: wholeNumber(1, 3_600_000).default(60_000),
  TOKEN_PREFIX: z
    .string()
    .regex(TOKEN_PREFIX_PATTERN, 'must be 1 to 16 lower-case letters and digits, a letter first')
    .default('tg'),
  MAX_BODY_BYTES: wholeNumber(1_024, 1_048_576).default(16_384),
});

export type Config = z.output<typeof schema>;

/**
 * auth's settings (docs/configuration.md).
 * @throws {ConfigError} listing every fault
 */
export function loadConfig(): Config {
  return readConfig(schema, process.env);
}
