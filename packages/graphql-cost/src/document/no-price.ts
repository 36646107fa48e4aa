import type { ASTNode } from 'graphql';

/**
 * Why an operation has no price: it is `invalid` for the schema, which is the data API's to answer, or `too_complex` to
 * be priced within bounds.
 */
export class NoPrice extends Error {
  readonly reason: 'invalid' | 'too_complex';
  /** Where in the text; null if that isn't known, as of a document that was parsed without locations. */
  readonly offset: number | null;

  constructor(reason: NoPrice['reason'], detail: string, node?: ASTNode) {
    super(detail);
    this.reason = reason;
    this.offset = node?.loc?.start ?? null;
  }
}
