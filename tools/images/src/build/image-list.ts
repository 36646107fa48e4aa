/** Entry points of a room, each of which becomes one file in /app. */
type Programs = { room: string; entries: readonly string[] };

export type ImageContents = {
  programs: readonly Programs[];
  /** Whether account's web interface, the customers' book and the files of the API page are in it. */
  pages?: true;
  /** Names that run a program, as links in /usr/local/bin. */
  commands?: readonly string[];
  /** Folders that user 1000 owns: a new volume takes its owner from the folder that it is first mounted on. */
  ownedFolders?: readonly string[];
};

/** What is in each image besides Node.js, by its target in the Dockerfile. */
export const IMAGES = {
  gateway: { programs: [{ room: 'services/gateway', entries: ['main', 'body-worker/body-worker'] }] },
  auth: { programs: [{ room: 'services/auth', entries: ['main'] }] },
  account: {
    programs: [
      {
        room: 'services/account',
        entries: [
          'main',
          'programs/migrate',
          'programs/await-migrations',
          'programs/seed',
          'programs/reseal',
        ],
      },
      { room: 'tools/command', entries: ['tollgate'] },
    ],
    pages: true,
    commands: ['tollgate'],
  },
  'sample-upstream': { programs: [{ room: 'sample-upstream', entries: ['main'] }] },
  compose: {
    programs: [{ room: 'tools/images', entries: ['secrets', 'show-demo'] }],
    ownedFolders: [
      ...['all', 'postgres', 'redis', 'auth', 'account', 'gateway', 'demo'].map((name) => `secrets/${name}`),
      'mail',
    ],
  },
} satisfies Record<string, ImageContents>;

export type ImageName = keyof typeof IMAGES;

export const IMAGE_NAMES = Object.keys(IMAGES) as ImageName[];

/** @throws {Error} naming the images, if there is none of that name */
export function imageNamed(name: string | undefined): ImageName {
  const found = IMAGE_NAMES.find((image) => image === name);
  if (found === undefined) throw new Error(`Name one of the images: ${IMAGE_NAMES.join(', ')}`);
  return found;
}
