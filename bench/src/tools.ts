import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { unpackDebianPackages } from '@tollgate/stack/debian-packages';
import type { Servers } from './servers.ts';

type Say = (line: string) => void;

/** Debian packages, unpacked into the cache and not installed. */
export type Tools = {
  nginx: string;
  wrk: string;
  openssl: string;
  env: Record<string, string>;
  versions: Record<'nginx' | 'wrk', string>;
};

export type ApacheTools = {
  apache: string;
  modules: string;
  env: Record<string, string>;
  versions: Record<'mod_oauth2' | 'mod_auth_openidc', string>;
};

export type LuaTools = {
  nginx: string;
  modules: string;
  /** Patterns as of Lua's package.path. */
  luaPath: string;
  luaCpath: string;
  env: Record<string, string>;
  version: string;
};

/** @throws {Error} if the packages can't be downloaded; upstream and load generator are among them. */
export async function findTools({ directory, onSpawn }: Servers, say: Say): Promise<Tools> {
  const { root, libraryPath } = await unpackDebianPackages({
    name: 'bench',
    packages: ['nginx', 'wrk', 'openssl'],
    probe: { program: 'usr/sbin/nginx', args: ['-v'] },
    logFile: join(directory, 'logs/tools.log'),
    say,
    onSpawn,
  });
  return {
    nginx: join(root, 'usr/sbin/nginx'),
    wrk: join(root, 'usr/bin/wrk'),
    openssl: join(root, 'usr/bin/openssl'),
    env: { LD_LIBRARY_PATH: libraryPath },
    versions: { nginx: versionOf(root, 'nginx'), wrk: versionOf(root, 'wrk') },
  };
}

/** @throws {Error} if the packages can't be downloaded. */
export async function findApache({ directory, onSpawn }: Servers, say: Say): Promise<ApacheTools> {
  const { root, libraryPath } = await unpackDebianPackages({
    name: 'bench-apache',
    packages: ['apache2-bin', 'libapache2-mod-auth-openidc', 'libapache2-mod-oauth2'],
    probe: { program: 'usr/sbin/apache2', args: ['-v'] },
    logFile: join(directory, 'logs/tools.log'),
    say,
    onSpawn,
  });
  return {
    apache: join(root, 'usr/sbin/apache2'),
    modules: join(root, 'usr/lib/apache2/modules'),
    env: { LD_LIBRARY_PATH: libraryPath },
    versions: {
      mod_oauth2: versionOf(root, 'libapache2-mod-oauth2'),
      mod_auth_openidc: versionOf(root, 'libapache2-mod-auth-openidc'),
    },
  };
}

/** @throws {Error} if the packages can't be downloaded. */
export async function findNginxLua({ directory, onSpawn }: Servers, say: Say): Promise<LuaTools> {
  const { root, libraryPath } = await unpackDebianPackages({
    name: 'bench-lua',
    packages: ['nginx', 'libnginx-mod-http-lua', 'lua-nginx-redis', 'lua-cjson'],
    probe: { program: 'usr/sbin/nginx', args: ['-v'] },
    logFile: join(directory, 'logs/tools.log'),
    say,
    onSpawn,
  });
  return {
    nginx: join(root, 'usr/sbin/nginx'),
    modules: join(root, 'usr/lib/nginx/modules'),
    luaPath: join(root, 'usr/share/lua/5.1/?.lua'),
    luaCpath: libraryPath
      .split(':')
      .map((directory) => join(directory, 'lua/5.1/?.so'))
      .join(';'),
    env: { LD_LIBRARY_PATH: libraryPath },
    version: versionOf(root, 'libnginx-mod-http-lua'),
  };
}

/** From the first line of the package's changelog: "wrk (4.1.0-3) unstable; …". */
function versionOf(root: string, name: string): string {
  const changelog = gunzipSync(readFileSync(join(root, `usr/share/doc/${name}/changelog.Debian.gz`)));
  return /\(([^)]+)\)/.exec(changelog.subarray(0, 200).toString())?.[1] ?? 'unknown';
}
