import { Problem } from '@tollgate/http/problem';

/** A part of payments, which there isn't with PAYMENTS=none. @throws {Problem} not_found */
export function switchedOn<Part>(part: Part | null): Part {
  if (part !== null) return part;
  throw new Problem('not_found', { detail: 'Payments are not enabled.' });
}
