import { isAnswered } from '@tollgate/contracts/call-codes';
import { BOOK, brand } from '../api/brand.ts';

/** The code of a refused call; it leads to its section of the book, in a tab of its own. */
export function CodeLink({ code }: { code: string }) {
  if (brand.docsUrl !== BOOK || !isAnswered(code)) return <code>{code}</code>;
  return (
    <a href={`${BOOK}/errors#${code.toLowerCase()}`} target="_blank" rel="noreferrer">
      <code>{code}</code>
    </a>
  );
}
