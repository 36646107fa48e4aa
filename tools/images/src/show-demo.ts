import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { demoOf } from '@tollgate/sample/demo';
import type { SampleIds } from '@tollgate/sample/demo';
import type { SampleSecrets } from '@tollgate/sample/secrets';
import { publishedPorts } from './config.ts';
import { readJson } from './files.ts';
import { DEMO_DIR } from './places.ts';

// Prints the counterpart of `.tollgate/demo.json`; the private addresses work only inside the compose network.
const people = readJson(join(DEMO_DIR, 'seed-input.json')) as
  Pick<SampleSecrets, 'manager' | 'member'> | undefined;
const ids = readJson(join(DEMO_DIR, 'ids.json')) as SampleIds | undefined;
if (people === undefined || ids === undefined) {
  process.stderr.write('The sample accounts are not made yet. Start the stack first: docker compose up\n');
  process.exit(1);
}

const published = (port: string) => `http://127.0.0.1:${port}`;
const ports = publishedPorts();
const secretOf = (caller: string) => readFileSync(join(DEMO_DIR, `${caller}_secret`), 'utf8');
const demo = demoOf(
  {
    gateway: published(ports.gateway),
    auth: published(ports.auth),
    account: published(ports.account),
    gatewayPrivate: 'http://gateway:4100',
    authPrivate: 'http://auth:4101',
    accountPrivate: 'http://account:4102',
  },
  { ...people, credentials: { operator: secretOf('operator'), usage_reporter: secretOf('usage_reporter') } },
  ids,
);
process.stdout.write(`${JSON.stringify(demo, null, 2)}\n`);
