import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundle } from '@tollgate/images/bundle';
import { announceBundles } from './config.ts';
import { BUNDLED_PROGRAMS, ROOT } from './programs.ts';

/**
 * Bundles programs as the images have them, for all suites that this process starts from now on: reading hundreds of
 * source files is half of what the start of a service costs.
 */
export async function bundlePrograms(directory: string): Promise<void> {
  await Promise.all(
    Object.entries(BUNDLED_PROGRAMS).map(async ([room, entries]) => {
      const outdir = join(directory, room);
      const { files } = await bundle(room, entries, outdir);
      await mkdir(outdir, { recursive: true });
      await Promise.all(files.map(({ path, content }) => writeFile(path, content)));
      // Files of packages, such as the API page's, are found from here as from the sources.
      await symlink(join(ROOT, room, 'node_modules'), join(outdir, 'node_modules'));
    }),
  );
  announceBundles(directory);
}
