import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

export const PNPM = 'pnpm@12.21.0';

/**
 * Installs what the lockfile names, unless node_modules is what it and the package.json files ask for already.
 * Returns whether it is; if not, the reason has been printed.
 */
export async function install(root) {
  const stamp = join(root, 'node_modules/.tollgate-installed');
  const isCurrent = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === hashOf(manifests(root));
  if (isCurrent()) return true;
  return await alone(join(root, '.tollgate'), async () => {
    if (isCurrent()) return true;
    // On stderr: stdout is for what a command answers.
    console.error('Installing packages …');
    const hash = hashOf(manifests(root));
    const { code, output } = await pnpmInstall(root);
    if (code !== 0) {
      console.error(`${output.trimEnd()}\nThe packages could not be installed (see above).`);
      return false;
    }
    writeFileSync(stamp, hash);
    return true;
  });
}

/** The files that decide what is installed. */
function manifests(root) {
  const rooms = ['services', 'packages', 'tools'].flatMap((folder) =>
    readdirSync(join(root, folder)).map((room) => join(folder, room)),
  );
  return [
    'pnpm-lock.yaml',
    'pnpm-workspace.yaml',
    '.npmrc',
    ...['.', 'e2e', 'bench', 'clients/typescript', 'sample-payments', 'sample-upstream', ...rooms.sort()].map(
      (room) => join(room, 'package.json'),
    ),
  ]
    .map((file) => join(root, file))
    .filter((file) => existsSync(file));
}

function hashOf(files) {
  const hash = createHash('sha256');
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(file)).update('\0');
  return hash.digest('hex');
}

function pnpmInstall(root) {
  return new Promise((resolve) => {
    const child = spawn('npx', ['--yes', PNPM, 'install', '--frozen-lockfile'], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      // pnpm must not ask whether it may replace an outdated node_modules.
      env: { ...process.env, CI: 'true' },
    });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    child.on('error', (error) => resolve({ code: 1, output: `npx could not be started: ${error.message}` }));
    child.on('close', (code) => resolve({ code, output }));
  });
}

/** One install at a time: `npm start` and `npm test` may begin side by side in a fresh clone. */
async function alone(directory, work) {
  const lock = join(directory, 'install.lock');
  mkdirSync(directory, { recursive: true });
  for (let waited = false; ; waited = true) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' });
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      if (!isAlive(lock)) rmSync(lock, { force: true });
      else if (!waited) console.error('Waiting for another install to finish …');
      await delay(200);
    }
  }
  try {
    return await work();
  } finally {
    rmSync(lock, { force: true });
  }
}

function isAlive(lock) {
  try {
    process.kill(Number(readFileSync(lock, 'utf8')), 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
