import { Registry } from 'prom-client';
import { createLogger } from '@tollgate/log';
import type { Service } from '@tollgate/server';
import { compose } from '../../../src/compose.ts';
import type { Config } from '../../../src/config.ts';

/** The service within the suite's own process, without listeners: to look at its routes. */
export function composedService(config: Config): Promise<Service> {
  return compose({
    config,
    logger: createLogger('suite', 'silent'),
    registry: new Registry(),
    draining: () => false,
    trusts: () => false,
    addressOf: () => '',
    accessLog: null,
  });
}
