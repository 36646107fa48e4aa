import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { postGraphql, obtainToken } from '../../caller.ts';
import type { ContainerStack } from '../../stack/containers.ts';
import { PROJECT } from '../../stack/images.ts';

const PARTS = ['auth', 'account', 'gateway', 'upstream'] as const;

/** How `docker exec` ends if the image has no such program; the message's stream depends on the engine. */
const NOT_FOUND = [126, 127];

/** An access token of any application. */
const TOKEN = /tg_[0-9A-Za-z]{22}_[0-9A-Za-z]{49}/;

async function docker(...args: string[]): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)('docker', args, { maxBuffer: 64 * 1024 * 1024 });
  return stdout + stderr;
}

/** What holds for the images whatever they answer. */
export function images(stack: () => ContainerStack): void {
  describe.each(PARTS)('the image of %s', (part) => {
    const exec = (...command: string[]) => docker('exec', stack().containerId(part), ...command);
    const evaluate = async (expression: string) =>
      JSON.parse(await exec('node', '--print', `JSON.stringify(${expression})`)) as unknown;

    test('runs as an unprivileged user without a capability, and has nothing to write to', async () => {
      expect(await evaluate('[process.getuid(), process.getgid(), process.getgroups()]')).toEqual([
        1000,
        1000,
        [1000],
      ]);
      const status = await evaluate("require('fs').readFileSync('/proc/1/status', 'utf8')");
      expect(status).toMatch(/^CapEff:\t0+$/m);
      for (const place of ['/', '/app/', '/etc/']) {
        await expect(evaluate(`require('fs').writeFileSync('${place}file', '')`)).rejects.toThrow('EROFS');
      }
    });

    test('holds Node.js and the bundle, and no other program: neither a shell nor a package manager', async () => {
      const programs = "require('fs').globSync('/{bin,sbin,usr/bin,usr/sbin,usr/local/bin,opt}/**')";
      const commands = part === 'account' ? ['node', 'tollgate'] : ['node'];
      const files = (await evaluate(programs)) as string[];
      expect(files.filter((file) => !file.endsWith('/bin')).sort()).toEqual(
        commands.map((command) => `/usr/local/bin/${command}`),
      );
      expect(await evaluate("require('fs').readdirSync('/app')")).toContain('main.mjs');
      const failure = await exec('sh', '-c', 'true').catch((error: unknown) => error);
      expect(NOT_FOUND).toContain((failure as { code?: number }).code);
    });

    test('says what it is, of which version, and what it is made of', async () => {
      const inspected = await docker(
        'inspect',
        '--format',
        '{{json .Config.Labels}}',
        stack().containerId(part),
      );
      const { version } = JSON.parse(readFileSync(`${PROJECT}/package.json`, 'utf8')) as { version: string };
      expect(JSON.parse(inspected)).toMatchObject({
        'org.opencontainers.image.title': expect.stringMatching(/^Tollgate /),
        'org.opencontainers.image.description': expect.stringMatching(/./),
        'org.opencontainers.image.version': version,
        'org.opencontainers.image.revision': expect.stringMatching(/./),
        'org.opencontainers.image.licenses': expect.stringMatching(/./),
      });
      const bill = await evaluate("JSON.parse(require('fs').readFileSync('/app/sbom.cdx.json', 'utf8'))");
      const node = await evaluate('process.versions.node');
      expect(bill).toMatchObject({
        bomFormat: 'CycloneDX',
        metadata: { component: { version } },
        components: expect.arrayContaining([expect.objectContaining({ name: 'node', version: node })]),
      });
    });

    test('ends on SIGTERM with code 0', async () => {
      const { demo, containerId, start } = stack();
      await postGraphql(demo, await obtainToken(demo, demo.application), '{ __typename }');
      await docker('stop', '--time', '15', containerId(part));
      const exit = await docker('inspect', '--format', '{{.State.ExitCode}}', containerId(part));
      await start(part);
      expect(exit).toBe('0\n');
    });
  });

  test('nothing secret is in what the containers log', async () => {
    const { demo, containerId } = stack();
    const secrets = [
      demo.application.client_secret,
      demo.member.client_secret,
      demo.console.password,
      demo.member.password,
      demo.private.client_secret,
    ];
    for (const part of [...PARTS, 'postgres', 'redis'] as const) {
      const log = await docker('logs', containerId(part));
      expect(log).not.toBe('');
      expect(log).not.toMatch(TOKEN);
      for (const secret of secrets) expect(log.includes(secret)).toBe(false);
    }
  });
}
