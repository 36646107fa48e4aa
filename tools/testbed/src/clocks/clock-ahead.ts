/** Shifts only the process's Date; a negative value sets it back. */
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
