/** The field of forms that ask for a reason, by the header that the API names in its errors. */
export const REASON = 'X-Reason';

/** Header fields are ASCII, so the text is percent-encoded. Nothing where nothing was said. */
export function reasonHeader(reason: string): { [REASON]?: string } {
  return reason.trim() === '' ? {} : { [REASON]: encodeURIComponent(reason) };
}
