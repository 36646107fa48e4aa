/**
 * Why an operation has no price: it is `invalid` for the schema, which is the data API's to answer, or `too_complex` to
 * be priced within bounds.
 */
export class NoPrice extends Error {
  readonly reason: 'invalid' | 'too_complex';

  constructor(reason: NoPrice['reason'], detail: string) {
    super(detail);
    this.reason = reason;
  }
}
