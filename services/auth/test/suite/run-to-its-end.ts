import { spawnSync } from 'node:child_process';
import { compileCache } from '@tollgate/testbed/config';
import { programFile } from '@tollgate/testbed/programs';

/** Every setting without a default, for a process that reaches no other. */
export const GOOD_SETTINGS = {
  PUBLIC_HOST: '127.0.0.1',
  PUBLIC_PORT: '0',
  PRIVATE_HOST: '127.0.0.1',
  PRIVATE_PORT: '0',
  SERVICE_CREDENTIALS: 'gateway:a-secret-of-sixteen-or-more',
  SERVICE_CLIENT_ID: 'auth',
  SERVICE_CLIENT_SECRET: 'another-secret-of-sixteen',
  REDIS_URL: 'redis://127.0.0.1:9',
  ACCOUNT_PRIVATE_URL: 'http://127.0.0.1:9',
  CLIENT_SECRET_PEPPERS: `p1:${'A'.repeat(43)}=`,
};

/** Runs auth until it ends by itself. */
export function runToItsEnd(env: Record<string, string>) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [programFile('services/auth', 'main')], {
    env: { ...compileCache(), ...env },
    encoding: 'utf8',
    timeout: 20_000,
  });
  return { status, output: stdout + stderr };
}
