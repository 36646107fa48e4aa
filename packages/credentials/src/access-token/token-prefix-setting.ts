import { z } from 'zod';
import { TOKEN_PREFIX_PATTERN } from './access-token.ts';

export const tokenPrefixSetting = z
  .string()
  .regex(TOKEN_PREFIX_PATTERN, 'must be 1 to 16 lower-case letters and digits, a letter first')
  .default('tg')
  .meta({
    description: 'first part of every access token, the same in all services',
    values: '1 to 16 lower-case letters and digits, a letter first',
  });
