import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { postGraphql, obtainToken } from '../../caller.ts';
import type { ContainerStack } from '../../stack/containers.ts';

const PARTS = ['auth', 'account', 'gateway', 'upstream'] as const;

/** An access token of any application. */
const TOKEN = /tg_[0-9A-Za-z]{22}_[0-9A-Za-z]{49}/;

async function docker(...args: string[]): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)('docker', args, { maxBuffer: 64 * 1024 * 1024 });
  return stdout + stderr;
}

/** What holds for the images whatever they answer. */
export function images(stack: () => ContainerStack): void {
  describe.each(PARTS)('the image of %s', (part) => {
    const inside = (command: string) => docker('exec', stack().containerId(part), 'sh', '-c', command);

    test('runs as an unprivileged user without a capability, and has nothing to write to', async () => {
      expect(await inside('id -u')).toBe('1000\n');
      expect(await inside('grep CapEff /proc/self/status')).toMatch(/^CapEff:\s+0+\n$/);
      for (const place of ['/', '/app', '/tmp']) {
        await expect(inside(`touch ${place}/file`)).rejects.toThrow('Read-only file system');
      }
    });

    test('holds Node.js and the bundle, and no package manager', async () => {
      expect(await inside('ls /app')).toContain('main.mjs\n');
      expect(await inside('for tool in npm npx yarn pnpm corepack; do command -v $tool; done; true')).toBe(
        '',
      );
      await expect(inside('ls /src')).rejects.toThrow('No such file');
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
