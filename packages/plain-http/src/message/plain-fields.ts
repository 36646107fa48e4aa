/** A token (RFC 9110, section 5.6.2). */
export const FIELD_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Without what would end its line. */
export const FIELD_VALUE = /^[\t -~\x80-\xff]*$/;

/** A token, and a value that is neither empty nor ends with white space (RFC 9110, section 5.5). */
export const PLAIN_FIELD_LINE =
  /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([!-~\x80-\xff](?:[\t -~\x80-\xff]*[!-~\x80-\xff])?)$/;

const CR = 13;
const LF = 10;

/** Whether a head, or a part of one, has a line that ends with LF alone, which two servers could read differently. */
export function hasBareLf(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) {
    if (bytes[at - 1] !== CR) return true;
  }
  return false;
}
