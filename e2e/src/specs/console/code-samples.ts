import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { LANGUAGES } from '@tollgate/console/code-samples';
import { obtainToken } from '../../caller.ts';
import type { Stack } from '../../stack/stack.ts';

type Sample = (typeof LANGUAGES)[number]['sample'];
type Operation = Parameters<Sample>[0]['operation'];

/** A compiler may take long on a busy machine. */
const TIME_LIMIT_MS = 120_000;

const TOOLS: Readonly<Record<string, { file: string; command: string; args: readonly string[] }>> = {
  curl: { file: 'sample.sh', command: 'sh', args: [] },
  javascript: { file: 'sample.mjs', command: process.execPath, args: [] },
  python: { file: 'sample.py', command: 'python3', args: [] },
  go: { file: 'sample.go', command: 'go', args: ['run'] },
  java: { file: 'Sample.java', command: 'java', args: [] },
};

const HOSTILE = `it's "quoted" \`id\` $HOME \${1 + 1} $(id) \\ \\u0041 """ </script> é 🎉`;

const query: Operation = {
  query: `query Land($code: ID!) {\n  # ${HOSTILE}\n  country(code: $code) { name }\n}\nquery Other { __typename }\n`,
  operationName: 'Land',
  variables: { code: 'CH', [HOSTILE]: [HOSTILE, null, 1.5] },
  isSubscription: false,
};

const subscription: Operation = {
  query: `subscription {\n  # ${HOSTILE}\n  countryOfTheMoment(intervalMs: 100, times: 2) { name }\n}\n`,
  operationName: null,
  variables: undefined,
  isSubscription: true,
};

/** The samples of the web interface, as a customer runs them. A language whose tool is missing is left out. */
export function codeSamples(stack: () => Stack): void {
  describe('code samples', () => {
    let directory: string;

    beforeAll(() => {
      directory = mkdtempSync(join(tmpdir(), 'tollgate-samples-'));
    });

    afterAll(() => {
      rmSync(directory, { recursive: true });
    });

    describe.each(LANGUAGES)('in $label', ({ id, sample }) => {
      const tool = TOOLS[id];
      const isThere = tool !== undefined && spawnSync(tool.command, ['--help']).error === undefined;
      const testThere = isThere ? test : test.skip;

      async function run(input: Parameters<Sample>[0]): Promise<string> {
        if (tool === undefined) throw new Error(`No tool runs ${id}.`);
        const file = join(directory, tool.file);
        writeFileSync(file, sample(input));
        const { stdout } = await promisify(execFile)(tool.command, [...tool.args, file]);
        return stdout;
      }

      testThere(
        'a query with a token',
        async () => {
          const { demo } = stack();
          const token = await obtainToken(demo, demo.application);
          const credential = { kind: 'token', token } as const;
          const dataUrl = `${demo.streaming_url}/graphql`;
          expect(await run({ operation: query, credential, dataUrl })).toContain('"Switzerland"');
        },
        TIME_LIMIT_MS,
      );

      testThere(
        'a query with the client credentials',
        async () => {
          const { demo } = stack();
          const { client_id, client_secret } = demo.application;
          const tokenUrl = `${demo.auth_url}/oauth2/token`;
          const credential = {
            kind: 'client',
            clientId: client_id,
            clientSecret: client_secret,
            tokenUrl,
          } as const;
          const dataUrl = `${demo.streaming_url}/graphql`;
          expect(await run({ operation: query, credential, dataUrl })).toContain('"Switzerland"');
        },
        TIME_LIMIT_MS,
      );

      testThere(
        'a subscription, to its end',
        async () => {
          const { demo } = stack();
          const token = await obtainToken(demo, demo.application);
          const credential = { kind: 'token', token } as const;
          const printed = await run({
            operation: subscription,
            credential,
            dataUrl: `${demo.streaming_url}/graphql`,
          });
          expect(printed.match(/"countryOfTheMoment"/g)).toHaveLength(2);
        },
        TIME_LIMIT_MS,
      );
    });
  });
}
