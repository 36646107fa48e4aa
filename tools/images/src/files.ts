import { readFileSync, renameSync, writeFileSync } from 'node:fs';

export function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Readers find either the old content or all of the new. */
export function writeFileAtomically(file: string, content: string, mode: number): void {
  const draft = `${file}.${String(process.pid)}`;
  writeFileSync(draft, content, { mode, flush: true });
  renameSync(draft, file);
}
