import { etagOf } from './resource.ts';
import { ScimError } from './scim-error.ts';

/** The If-Match header (RFC 7644, section 3.14); undefined without one. */
export type Precondition = string | undefined;

/** @throws {ScimError} 412 */
export function assertUnchanged(current: { version: number }, wanted: Precondition): void {
  if (wanted === undefined || wanted.trim() === '*') return;
  if (tagsOf(wanted).includes(etagOf(current))) return;
  throw new ScimError(412, undefined, 'The resource has changed since it was read.');
}

/** Some clients repeat the version without the sign for a weak one. */
function tagsOf(header: string): string[] {
  return header.split(',').map((tag) => {
    const trimmed = tag.trim();
    return trimmed.startsWith('W/') ? trimmed : `W/${trimmed}`;
  });
}
