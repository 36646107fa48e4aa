import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { usageFault } from './failures.ts';

/** Of a file, or of standard input for `-`. @throws {Failure} usage if the file can't be read */
export async function readText(file: string): Promise<string> {
  if (file === '-') return text(process.stdin);
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw usageFault(`${file} can't be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}
