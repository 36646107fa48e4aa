import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { redisImage } from '../config.ts';
import { freePort } from '../ports.ts';
import { findRedis } from './redis-program.ts';
import { startRedis } from './redis.ts';

let directory: string;
let logFile: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'tollgate-redis-'));
  logFile = join(directory, 'log');
});

afterAll(() => {
  rmSync(directory, { recursive: true });
});

function pathWith(programs: string[]): string[] {
  const path = join(directory, crypto.randomUUID());
  mkdirSync(path);
  for (const program of programs) {
    const installed = join('/usr/bin', program);
    if (existsSync(installed)) symlinkSync(installed, join(path, program));
    else writeFileSync(join(path, program), '#!/bin/sh\n', { mode: 0o755 });
  }
  return [path];
}

test.each([
  { programs: ['redis-server', 'valkey-server', 'apt-get', 'dpkg-deb', 'docker'], found: 'redis-server' },
  { programs: ['valkey-server', 'docker'], found: 'valkey-server' },
])('of $programs it takes $found', async ({ programs, found }) => {
  const path = pathWith(programs);
  expect(await findRedis({ path, logFile })).toEqual({ kind: 'binary', path: join(path[0] ?? '', found) });
});

test('with nothing to run, the message names every possibility', async () => {
  const none = findRedis({ path: [], logFile });
  await expect(none).rejects.toThrow(/REDIS_URL[^]*redis-server[^]*valkey-server[^]*apt-get[^]*Docker/);
});

const image = redisImage();
const hasImage = spawnSync('docker', ['image', 'inspect', image], { stdio: 'ignore' }).status === 0;

// The suite pulls no image.
(hasImage ? test : test.skip)(
  'Docker serves where nothing else does, and starts again after a crash',
  async () => {
    const path = pathWith([]);
    const docker = join(path[0] ?? '', 'docker');
    symlinkSync(spawnSync('which', ['docker'], { encoding: 'utf8' }).stdout.trim(), docker);
    const program = await findRedis({ path, logFile });
    expect(program).toEqual({ kind: 'docker', docker, image });
    const options = {
      program,
      dataDir: join(directory, 'data in docker'),
      port: await freePort(),
      password: 'a "quoted" password',
      logFile,
    };
    await (await startRedis(options)).kill();
    await (await startRedis(options)).stop();
  },
  60_000,
);

const onDebian = existsSync('/usr/bin/apt-get') && existsSync('/usr/bin/dpkg-deb');

(onDebian ? test : test.skip)(
  "Debian's package serves where no Redis is installed; two first downloads at once don't disturb each other",
  async () => {
    const options = { path: pathWith(['apt-get', 'dpkg-deb']), cacheDir: join(directory, 'cache'), logFile };
    const [program, other] = await Promise.all([findRedis(options), findRedis(options)]);
    expect(other).toEqual(program);
    expect(readdirSync(options.cacheDir)).toHaveLength(1);

    const port = await freePort();
    const redis = await startRedis({
      program,
      dataDir: join(directory, 'data of redis'),
      port,
      password: 'a "quoted" password',
      logFile,
    });
    expect(redis.url).toBe(`redis://:a%20%22quoted%22%20password@127.0.0.1:${String(port)}`);
    await redis.stop();

    // A cached program needs none of the programs that downloaded it.
    const silent: string[] = [];
    expect(await findRedis({ ...options, say: (line) => silent.push(line) })).toEqual(program);
    expect(silent).toEqual([]);
  },
  120_000,
);
