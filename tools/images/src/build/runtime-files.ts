import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fixTimes } from './fixed-times.ts';

// Copies this Node.js and all that it needs at run time below a folder, which becomes the base of the images:
// node tools/images/src/build/runtime-files.ts /runtime
const [root = '/runtime'] = process.argv.slice(2);

const CONFIGURATION = {
  'etc/passwd': 'root:x:0:0:root:/:/sbin/nologin\nnode:x:1000:1000:node:/app:/sbin/nologin\n',
  'etc/group': 'root:x:0:\nnode:x:1000:\n',
  // Without it glibc asks DNS before /etc/hosts.
  'etc/nsswitch.conf': 'hosts: files dns\n',
};

type Report = { sharedObjects: string[] };

copy(process.execPath, '/usr/local/bin/node', 0o755);
// The first one that Linux reports is its own and no file.
const libraries = (process.report.getReport() as Report).sharedObjects.filter((path) => path.startsWith('/'));
for (const path of libraries) copy(path, path, 0o755);
for (const [path, content] of Object.entries(CONFIGURATION)) write(path, content);
recordDebianPackages();
fixTimes(root);

function copy(from: string, to: string, mode: number): void {
  const target = join(root, to);
  mkdirSync(dirname(target), { recursive: true });
  copyFileSync(realpathSync(from), target);
  chmodSync(target, mode);
}

function write(path: string, content: string): void {
  const target = join(root, path);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, content, { mode: 0o644 });
}

/** As in Distroless images, for vulnerability scanners: which Debian, which packages the libraries are of, their licences. */
function recordDebianPackages(): void {
  if (!existsSync('/etc/debian_version')) return;
  copy('/etc/os-release', '/etc/os-release', 0o644);
  copy('/etc/debian_version', '/etc/debian_version', 0o644);
  for (const name of new Set(libraries.map(packageOf))) {
    write(`var/lib/dpkg/status.d/${name}`, dpkgQuery('--status', name));
    copy(`/usr/share/doc/${name}/copyright`, `/usr/share/doc/${name}/copyright`, 0o644);
  }
}

/** dpkg may know a file by its path before /lib became a link to /usr/lib. */
function packageOf(library: string): string {
  const inUsr = (path: string) => path.replace(/^\/(?=lib)/, '/usr/');
  const names = [library, realpathSync(library)].map(inUsr);
  const lines = dpkgQuery('--search', `*/${library.slice(library.lastIndexOf('/') + 1)}`).split('\n');
  for (const line of lines) {
    const [, name, path = ''] = /^([^:]+)(?::\w+)?: (.*)$/.exec(line) ?? [];
    if (name !== undefined && names.includes(inUsr(path))) return name;
  }
  throw new Error(`No Debian package has ${library}`);
}

function dpkgQuery(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('dpkg-query', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`dpkg-query ${args.join(' ')}: ${stderr}`);
  return stdout;
}
