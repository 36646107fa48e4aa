/**
 * Settings for a service process whose clock is that far ahead, or behind where it is negative: its Date, and
 * nothing else, is another one.
 */
export function clockAhead(aheadMs: number): { NODE_OPTIONS: string } {
  const program = `
    const RealDate = Date;
    globalThis.Date = class extends RealDate {
      constructor(...values) {
        if (values.length === 0) super(RealDate.now() + ${String(aheadMs)});
        else super(...values);
      }
      static now() {
        return RealDate.now() + ${String(aheadMs)};
      }
    };`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(program)}` };
}
