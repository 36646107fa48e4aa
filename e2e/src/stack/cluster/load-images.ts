import { builtImage, buildImages, POSTGRES_IMAGE, REDIS_IMAGE } from '../images.ts';
import { runCommand } from './commands.ts';
import { buildImagesBefore, IMAGES_BEFORE } from './version-before.ts';

/** Builds all images and brings them into the cluster, by the command that CLUSTER_LOAD_IMAGE names. */
export async function loadImages(): Promise<void> {
  await buildImages();
  await buildImagesBefore();
  const ours = (['auth', 'account', 'gateway', 'upstream'] as const).map(builtImage);
  // Together: what the images share is copied once.
  await loadIntoCluster([...ours, ...IMAGES_BEFORE, POSTGRES_IMAGE, REDIS_IMAGE]);
}

export async function loadIntoCluster(images: readonly string[]): Promise<void> {
  const command = process.env['CLUSTER_LOAD_IMAGE'];
  if (command === undefined) throw new Error('CLUSTER_LOAD_IMAGE names no command.');
  await runCommand(command, images);
}
