import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { CONSOLE_PATHS } from '@tollgate/console/paths';
import type { Service } from '@tollgate/server';
import { createDatabase } from '@tollgate/testbed/database';
import { startRedis } from '@tollgate/testbed/redis';
import type { RunningRedis } from '@tollgate/testbed/redis';
import { serviceDefaults } from '@tollgate/testbed/service-process';
import { loadConfig } from '../config.ts';
import { composedService } from '../../test/suite/contract/composed-service.ts';
import { routesOf } from '../../test/suite/contract/routes.ts';
import { OWNER_API } from '../api/owner.ts';

/** The web interface, which is no part of the API. */
const PAGES = CONSOLE_PATHS.map((path) => `GET ${path.replace(/:(\w+)/, '{$1}')}`);

/** Those of the other services, which the document describes, too. */
const OF_OTHERS = /^\w+ (?:\/oauth2\/|\/\.well-known\/|\/graphql$|\/v1\/graphql$)/;

let database: Awaited<ReturnType<typeof createDatabase>>;
let redis: RunningRedis;
let service: Service;

beforeAll(async () => {
  [database, redis] = await Promise.all([createDatabase(), startRedis()]);
  Object.assign(process.env, serviceDefaults(), {
    PUBLIC_PORT: '1',
    PRIVATE_PORT: '1',
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    // Nothing here needs auth.
    AUTH_PRIVATE_URL: 'http://127.0.0.1:1',
  });
  service = await composedService(loadConfig());
});

afterAll(async () => {
  await service.close();
  await Promise.all([redis.stop(), database.drop()]);
});

test('every route of the public listener is in the document, and the document has no others', () => {
  const documented = OWNER_API.flatMap(({ operations }) =>
    operations.map(({ method, path }) => `${method} ${path}`),
  );
  const own = documented.filter((route) => !OF_OTHERS.test(route));
  const served = routesOf(service.publicHandler).filter((route) => !PAGES.includes(route));
  expect(served.toSorted()).toEqual(own.toSorted());
});
