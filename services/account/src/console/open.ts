import { resolve } from 'node:path';
import type { RequestHandler } from 'express';
import type { Logger } from '@tollgate/log';
import type { Config } from '../config.ts';
import type { PublicAddresses } from './addresses/operations.ts';
import { consolePage } from './console-page.ts';
import type { FaultPage } from './console-page.ts';
import { customersBook } from './customers-book.ts';
import type { ExplorerNeeds } from './explorer/operations.ts';
import { createSchemaSource } from './explorer/schema-source.ts';

/** The pages of the web interface and the customers' book, and what they begin with. */
export function openConsole({ config, logger }: { config: Config; logger: Logger }): {
  pages: RequestHandler[];
  /** Of an authorization request that can't be answered by a redirect. */
  faultPage: FaultPage;
  needs: { addresses: PublicAddresses } & ExplorerNeeds;
} {
  const addresses = { streamingUrl: config.STREAMING_URL ?? null, authUrl: config.AUTH_URL ?? null };
  const brand = {
    productName: config.PRODUCT_NAME,
    logoPath: config.PRODUCT_LOGO_PATH,
    accentColor: config.ACCENT_COLOR,
    docsUrl: config.DOCS_URL ?? '/docs',
    supportUrl: config.SUPPORT_URL,
  };
  const explorer = {
    examples: config.EXPLORER_EXAMPLES,
    schema: createSchemaSource({ url: config.EXPLORER_SCHEMA_URL, logger }),
  };
  const page = consolePage(resolve(config.CONSOLE_DIR), { ...addresses, brand });
  return {
    faultPage: page.faultPage,
    pages: [
      page.router,
      customersBook(resolve(config.DOCS_DIR), { ...addresses, publicUrl: config.PUBLIC_URL, brand }),
    ],
    needs: { addresses, explorer },
  };
}
