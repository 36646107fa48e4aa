import { isAnswered } from '@tollgate/contracts/call-codes';
import { brand } from '../api/brand.ts';

/** Where account serves the customers' book. DOCS_URL may name another one, with other sections. */
const BOOK = '/docs';

/** The code of a refused call; it leads to its section of the book, in a tab of its own. */
export function CodeLink({ code }: { code: string }) {
  if (brand.docsUrl !== BOOK || !isAnswered(code)) return <code>{code}</code>;
  return (
    <a href={`${BOOK}/errors#${code.toLowerCase()}`} target="_blank" rel="noreferrer">
      <code>{code}</code>
    </a>
  );
}
