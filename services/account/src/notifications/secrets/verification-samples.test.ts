import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { VERIFICATION_SAMPLES } from '@tollgate/console/webhook-samples';
import { freePort } from '@tollgate/stack/ports';
import { waitFor } from '@tollgate/stack/wait-for';
import { newWebhookSecret, signedHeaders } from './secret.ts';

/** A compiler may take long on a busy machine. */
const TIME_LIMIT_MS = 240_000;

const TOOLS = {
  node: { file: 'sample.mjs', command: process.execPath, version: '--version', args: [] },
  python: { file: 'sample.py', command: 'python3', version: '--version', args: [] },
  go: { file: 'sample.go', command: 'go', version: 'version', args: ['run'] },
} as const;

const secret = newWebhookSecret();
const payload = '{"type":"usage.alert","data":{"name":"Zoë"}}';

let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'tollgate-webhook-samples-'));
  mkdirSync(join(directory, 'node_modules'));
  const library = resolve(import.meta.dirname, '../../../node_modules/standardwebhooks');
  symlinkSync(library, join(directory, 'node_modules/standardwebhooks'));
});

afterAll(() => {
  rmSync(directory, { recursive: true });
});

test('docs/webhooks.md has the same samples', () => {
  const documented = readFileSync(resolve(import.meta.dirname, '../../../../../docs/webhooks.md'), 'utf8');
  for (const { sample } of VERIFICATION_SAMPLES) expect(documented).toContain(`\n${sample}\`\`\``);
});

describe.each(VERIFICATION_SAMPLES)('a server in $label', ({ id, sample }) => {
  const { file, command, version, args } = TOOLS[id];
  const isThere = spawnSync(command, [version]).status === 0;

  (isThere ? test : test.skip)(
    'accepts what is signed with its secret, and nothing else',
    async () => {
      const port = await freePort();
      const path = join(directory, file);
      writeFileSync(path, sample.replace('8080', String(port)));
      // In a group of its own: `go run` starts the program as a child.
      const server = spawn(command, [...args, path], {
        detached: true,
        stdio: 'ignore',
        env: { ...process.env, WEBHOOK_SECRET: secret },
      });
      try {
        const url = `http://127.0.0.1:${String(port)}/`;
        const status = async (headers: Record<string, string>, body = payload) =>
          (await fetch(url, { method: 'POST', headers, body })).status;
        const signed = (secrets: readonly string[], at = new Date()) =>
          signedHeaders({ message_id: 'msg_1', payload }, secrets, at);
        await waitFor(() => status({}).catch(() => undefined), { timeoutMs: TIME_LIMIT_MS });
        expect(await status(signed([secret]))).toBe(204);
        // While the secret is rotated.
        expect(await status(signed([newWebhookSecret(), secret]))).toBe(204);
        expect(await status(signed([newWebhookSecret()]))).toBe(401);
        expect(await status(signed([secret]), payload.replace('Zoë', 'Eve'))).toBe(401);
        expect(await status(signed([secret], new Date(Date.now() - 600_000)))).toBe(401);
        expect(await status({})).toBe(401);
      } finally {
        process.kill(-(server.pid ?? NaN), 'SIGKILL');
      }
    },
    TIME_LIMIT_MS,
  );
});
