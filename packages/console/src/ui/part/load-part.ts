import { isReachable } from '../../api/reachable.ts';

/** A part's script is gone although Tollgate answers, perhaps because the interface was updated. */
export class PartMissing extends Error {
  constructor(cause: unknown) {
    super('A part of this page is missing.', { cause });
    this.name = 'PartMissing';
  }
}

type Network = { isReachable: () => Promise<boolean>; pause: (ms: number) => Promise<void> };

const RETRY_MS = { first: 1_000, max: 5_000 };

/** Of attempts while Tollgate answers. */
const ATTEMPTS_MAX = 3;

const browser: Network = {
  isReachable: async () => {
    if (!(await isReachable())) return false;
    await reloadStyles();
    return true;
  },
  pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
};

/** Loads a part's script, however long Tollgate cannot be reached. @throws {PartMissing} */
export async function loadPart<T>(importer: () => Promise<T>, network = browser): Promise<T> {
  let delayMs = RETRY_MS.first;
  for (let attempts = 0; ;) {
    try {
      return await importer();
    } catch (cause) {
      if (await network.isReachable()) attempts += 1;
      if (attempts === ATTEMPTS_MAX) throw new PartMissing(cause);
      await network.pause(delayMs);
      delayMs = Math.min(delayMs * 2, RETRY_MS.max);
    }
  }
}

/** Asks again for style sheets that failed, which Vite asks for only once. */
export async function reloadStyles(): Promise<void> {
  const sheets = [...document.querySelectorAll<HTMLLinkElement>('link[rel="stylesheet"]')];
  const reloaded = sheets
    .filter(({ sheet }) => sheet === null)
    .map((failed) => {
      const again = failed.cloneNode() as HTMLLinkElement;
      const isDone = new Promise((resolve) => {
        again.addEventListener('load', resolve);
        again.addEventListener('error', resolve);
      });
      failed.replaceWith(again);
      return isDone;
    });
  await Promise.all(reloaded);
}
