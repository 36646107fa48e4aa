import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** The raw mails in a stack's MAIL_DIR; none before the first. */
export async function readMails(mailDirectory: string): Promise<string[]> {
  const files = await readdir(mailDirectory).catch(() => []);
  const mails = files.filter((file) => file.endsWith('.eml'));
  return Promise.all(mails.map((file) => readFile(join(mailDirectory, file), 'utf8')));
}
