import { resolve } from 'node:path';
import type { RequestHandler } from 'express';
import type { Config } from '../config.ts';
import type { PublicAddresses } from './addresses/operations.ts';
import { consolePage } from './console-page.ts';

/** The pages of the web interface. */
export function openConsole({ config }: { config: Config }): {
  page: RequestHandler;
  needs: { addresses: PublicAddresses };
} {
  const addresses = { streamingUrl: config.STREAMING_URL ?? null, authUrl: config.AUTH_URL ?? null };
  const brand = {
    productName: config.PRODUCT_NAME,
    logoPath: config.PRODUCT_LOGO_PATH,
    accentColor: config.ACCENT_COLOR,
  };
  return { page: consolePage(resolve(config.CONSOLE_DIR), { ...addresses, brand }), needs: { addresses } };
}
