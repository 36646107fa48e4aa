import { createServer } from 'node:tls';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { runCommand } from '@tollgate/stack/process';
import type { Servers } from '../servers.ts';
import { programDirectory } from './program.ts';
import type { Tools } from '../tools.ts';

/** For a peer that requires HTTPS. Ends with the process. */
export async function startTlsRelay(
  servers: Servers,
  { openssl, env }: Pick<Tools, 'openssl' | 'env'>,
  url: string,
): Promise<string> {
  const own = await programDirectory(servers, 'tls-relay');
  const [key, cert] = [join(own, 'key.pem'), join(own, 'cert.pem')];
  await runCommand({
    name: 'openssl',
    command: openssl,
    args: [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-days',
      '2',
      '-subj',
      '/CN=127.0.0.1',
      '-keyout',
      key,
      '-out',
      cert,
    ],
    env,
    logFile: join(servers.directory, 'logs/openssl.log'),
    onSpawn: servers.onSpawn,
  });
  const { hostname, port, pathname } = new URL(url);
  const server = createServer({ key: await readFile(key), cert: await readFile(cert) }, (socket) => {
    const behind = connect(Number(port), hostname);
    // When either end closes, the other does too; both introspect again over a new connection.
    socket.on('error', () => behind.destroy()).pipe(behind);
    behind.on('error', () => socket.destroy()).pipe(socket);
  });
  server.listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  return `https://127.0.0.1:${String((server.address() as AddressInfo).port)}${pathname}`;
}
