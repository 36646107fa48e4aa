import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** @throws {Error} if it isn't on the PATH: the peer is left out */
export function onPath(program: string, path = process.env['PATH'] ?? ''): string {
  const found = path
    .split(delimiter)
    .filter((directory) => directory !== '')
    .map((directory) => join(directory, program))
    .find(isExecutable);
  if (found === undefined) throw new Error(`no ${program} on the PATH`);
  return found;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
