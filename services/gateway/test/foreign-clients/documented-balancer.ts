import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CertificateAuthority } from '@tollgate/testbed/certificates';
import { startLoadBalancer } from '@tollgate/testbed/load-balancers';
import type { LoadBalancer } from '@tollgate/testbed/load-balancers';
import type { Program } from '@tollgate/stack/debian-program';
import type { ManagedProcess } from '@tollgate/stack/process';
import type { ServiceProcess } from '@tollgate/testbed/service-process';

type Gateway = Pick<ServiceProcess, 'publicUrl' | 'privateUrl'>;

const ROOT = join(import.meta.dirname, '../../../..');
const ADDRESS_OF_FIRST = '10.0.0.11';

/**
 * Starts a load balancer with the configuration of docs/load-balancing.md, in which only addresses, the certificate's
 * files and, for nginx, the folders that its package would make are replaced. `portOf` may give a listener's port for
 * another one of the page.
 */
export async function startDocumentedBalancer(options: {
  name: LoadBalancer;
  program: Program;
  port: number;
  gateways: readonly Gateway[];
  authority: CertificateAuthority;
  portOf?: (documented: number) => number;
}): Promise<ManagedProcess> {
  const { name, program, port, gateways, authority, portOf = (own: number) => own } = options;
  const { key, cert } = authority.issue(20);
  return await startLoadBalancer(name, program, (directory) => {
    const files = { pem: `${cert}${key}`, crt: cert, key };
    for (const [extension, text] of Object.entries(files)) {
      writeFileSync(join(directory, `tls.${extension}`), text, { mode: 0o600 });
    }
    let text = replaced(documented(name), [
      [/\/etc\/\w+\/api\.example\.com\.(pem|crt|key)/g, `${directory}/tls.$1`],
      [/^( *(?:bind|listen)) (?::)?443 /m, `$1 127.0.0.1:${String(port)} `],
    ]);
    if (name === 'nginx') text = replaced(text, [[/^http \{$/m, `http {\n${foldersOfNginx(directory)}`]]);
    if (name === 'haproxy') text = withPortsOfChecks(text, gateways);
    const addresses = /\b10\.0\.0\.(\d+):(\d+)/g;
    return text.replaceAll(addresses, (_all, host: string, own: string) => {
      const gateway = gateways[Number(host) - Number(ADDRESS_OF_FIRST.split('.')[3])];
      return new URL(listenerUrl(gateway, portOf(Number(own)))).host;
    });
  });
}

function documented(name: LoadBalancer): string {
  const page = readFileSync(join(ROOT, 'docs/load-balancing.md'), 'utf8');
  const [, configuration] = new RegExp(`\`\`\`${name}\\n(.*?)\`\`\``, 's').exec(page) ?? [];
  if (configuration === undefined) throw new Error(`the page has no configuration of ${name}`);
  return configuration;
}

function replaced(text: string, replacements: readonly (readonly [RegExp, string])[]): string {
  return replacements.reduce((before, [old, by]) => {
    const after = before.replace(old, by);
    if (after === before) throw new Error(`the page has no ${String(old)}`);
    return after;
  }, text);
}

/** The checks' port is the same for all gateways of the page; here each has its own. */
function withPortsOfChecks(text: string, gateways: readonly Gateway[]): string {
  const [line = '', port] = /^ *default-server .*\bport (\d+)/m.exec(text) ?? [];
  return text
    .replace(line, line.replace(/ port \d+/, ''))
    .replaceAll(/^ *server gateway-(\d+) .*$/gm, (server, number: string) => {
      const { port: own } = new URL(listenerUrl(gateways[Number(number) - 1], Number(port)));
      return `${server} port ${own}`;
    });
}

/** By default below /var, where only a package's installation makes them. */
function foldersOfNginx(directory: string): string {
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const folders = kinds.map((kind) => `  ${kind}_temp_path ${directory}/${kind};\n`);
  return [`  access_log ${directory}/access;\n`, ...folders].join('');
}

/** The listener that has this port in the gateway's image. */
function listenerUrl(gateway: Gateway | undefined, port: number): string {
  const image = readFileSync(join(ROOT, 'Dockerfile'), 'utf8').split('AS gateway\n')[1];
  const [, publicPort, privatePort] = /ENV PUBLIC_PORT=(\d+) PRIVATE_PORT=(\d+)/.exec(image ?? '') ?? [];
  const urls = new Map([
    [publicPort, gateway?.publicUrl],
    [privatePort, gateway?.privateUrl],
  ]);
  const found = urls.get(String(port));
  if (found === undefined) throw new Error(`a gateway has no port ${String(port)}`);
  return found;
}
