import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export type BundledPackage = {
  name: string;
  version: string;
  /** As the package declares it: an SPDX expression, or words. */
  licence: string;
};

/** What package.json says of its licence today and said before npm 2. */
type Manifest = {
  name: string;
  version: string;
  license?: string | { type?: string };
  licenses?: { type?: string }[];
};

/** The installed packages that files belong to, by name and version; files of this project belong to none. */
export function packagesOf(files: Iterable<string>): BundledPackage[] {
  const folders = new Set<string>();
  for (const file of files) {
    const folder = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0];
    if (folder !== undefined) folders.add(folder);
  }
  const packages = [...folders].map(packageAt);
  const byName = new Map(packages.map((found) => [`${found.name}@${found.version}`, found]));
  return [...byName].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, found]) => found);
}

export function packageAt(folder: string): BundledPackage {
  const { name, version, license, licenses } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  ) as Manifest;
  const declared = licenses?.map(({ type = '' }) => type).join(' OR ');
  const licence = typeof license === 'string' ? license : (license?.type ?? declared ?? '');
  return { name, version, licence };
}
