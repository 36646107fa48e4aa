import { BOOKS } from './books.ts';
import type { Book } from './books.ts';

/** The book of this build (scripts/build.ts). @throws {Error} if `BOOK` names none */
export function bookOfBuild(): Book {
  const name = process.env['BOOK'];
  if (name !== 'customers' && name !== 'operators')
    throw new Error('BOOK names the book to build: customers or operators.');
  return BOOKS[name];
}
