import { readFile, stat } from 'node:fs/promises';

/** A text that may change; the same string object while it doesn't. @throws (the promise) if it can't be read */
export type ReadText = () => Promise<string>;

/** `path` is read again when it has changed. */
export function fileText(path: string): ReadText {
  let known: { mtimeMs: number; size: number; text: string } | undefined;
  return async () => {
    const { mtimeMs, size } = await stat(path);
    if (known === undefined || known.mtimeMs !== mtimeMs || known.size !== size) {
      known = { mtimeMs, size, text: await readFile(path, 'utf8') };
    }
    return known.text;
  };
}
