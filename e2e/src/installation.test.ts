import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { freePort } from '@tollgate/stack/ports';
import { waitFor } from '@tollgate/stack/wait-for';
import { kubectlIn, runCommand } from './stack/cluster/commands.ts';
import { loadIntoCluster } from './stack/cluster/load-images.ts';
import { imageValues } from './stack/cluster/release.ts';
import { POSTGRES_IMAGE, PROJECT, REDIS_IMAGE } from './stack/images.ts';

/**
 * The documents' way to a running stack, command by command, on a cluster that has none of it. Three things differ:
 * images are loaded into the cluster where the documents push them, stand-ins of Postgres' and Redis' images are named
 * to Helm, and the port of this machine is a free one.
 */

const NAMESPACE = 'tollgate';
const TIME_LIMIT_MS = 900_000;

const directory = mkdtempSync(join(tmpdir(), 'tollgate-installation-'));
const kubectl = kubectlIn(NAMESPACE);
let forwarding: ChildProcess | undefined;

afterAll(async () => {
  forwarding?.kill();
  await runCommand('helm', ['uninstall', 'tollgate', '--namespace', NAMESPACE, '--ignore-not-found']);
  await runCommand('kubectl', ['delete', 'namespace', NAMESPACE, '--ignore-not-found']);
  rmSync(directory, { recursive: true });
}, 180_000);

/** The only block of a document that has this line. */
function blockWith(document: string, line: string): string {
  const blocks = readFileSync(join(PROJECT, document), 'utf8').matchAll(/^```sh\n([^]*?)^```/gm);
  const found = [...blocks].map(([, block = '']) => block).filter((block) => block.includes(line));
  if (found.length !== 1) throw new Error(`${document} has ${String(found.length)} blocks with "${line}"`);
  return found[0] ?? '';
}

const STAND_INS = `
pushed=()
docker() { if [ "$1" = push ]; then pushed+=("$2"); else command docker "$@"; fi; }
helm() { command helm "$@" --values "$STAND_IN_VALUES"; }
`;
/** Together: what the images share is copied once. */
const LOAD_PUSHED = `
if [ "\${#pushed[@]}" != 0 ]; then "$CLUSTER_LOAD_IMAGE" "\${pushed[@]}"; fi
`;

async function run(script: string): Promise<string> {
  const { postgres, redis } = await imageValues();
  const values = join(directory, 'stand-ins.json');
  writeFileSync(values, JSON.stringify({ postgres, redis }));
  return await runCommand('env', [
    '-u',
    'TOLLGATE_TAG',
    '-C',
    PROJECT,
    `STAND_IN_VALUES=${values}`,
    'bash',
    '-euc',
    STAND_INS + script + LOAD_PUSHED,
  ]);
}

test(
  'the documents lead to a stack that sells calls',
  async () => {
    const namespaces = await runCommand('kubectl', ['get', 'namespaces', '--output=name']);
    expect(namespaces.split('\n')).not.toContain(`namespace/${NAMESPACE}`);

    await loadIntoCluster([POSTGRES_IMAGE, REDIS_IMAGE]);
    await run(blockWith('docs/containers.md', 'docker push'));
    const [install = '', forward = ''] = blockWith('docs/kubernetes.md', 'values/demo.yaml').split('kubectl');
    const notes = await run(install);

    const port = await freePort();
    expect(forward).toContain(' 4000:4000');
    const args = forward
      .replace('4000:4000', `${String(port)}:4000`)
      .trim()
      .split(' ');
    forwarding = spawn('kubectl', args, { stdio: 'ignore' });
    const url = `http://localhost:${String(port)}`;
    await waitFor(() => fetch(`${url}/user`).then(({ ok }) => ok), {
      what: 'the forwarded port',
      timeoutMs: 60_000,
    });

    const password = await run(/^ +(kubectl .* get secret .*)$/m.exec(notes)?.[1] ?? 'false');
    expect(password).toMatch(/^\w{16}$/);
    const secret = async (key: string) =>
      Buffer.from(
        await kubectl('get', 'secret', 'tollgate-seed', `--output=jsonpath={.data.${key}}`),
        'base64',
      ).toString();
    const token = (await (
      await fetch(`${url}/oauth2/token`, {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'client_credentials',
          scope: 'api',
          client_id: await secret('client_id'),
          client_secret: await secret('client_secret'),
        }),
      })
    ).json()) as { access_token: string };
    const answer = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token.access_token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{ country(code: "CH") { name } }' }),
    });
    expect([answer.status, await answer.json()]).toEqual([
      200,
      { data: { country: { name: 'Switzerland' } } },
    ]);
    expect(Number(answer.headers.get('x-points-cost'))).toBeGreaterThan(0);

    const plans = await run(blockWith('docs/command.md', 'kubectl --namespace tollgate exec'));
    expect(plans).toMatch(/\bTrial\b/);
  },
  TIME_LIMIT_MS,
);
