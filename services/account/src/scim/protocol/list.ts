import { invalidValue } from './scim-error.ts';

export const MAX_PER_PAGE = 200;

/** `offset` counts from 0. */
export type ListPage = { offset: number; count: number };

/** RFC 7644, section 3.4.2.4: an index below 1 is 1, a count below 0 is 0. @throws {ScimError} invalidValue */
export function pageOf(startIndex: unknown, count: unknown): ListPage {
  return {
    offset: Math.min(Math.max(1, integerOf('startIndex', startIndex, 1)), Number.MAX_SAFE_INTEGER) - 1,
    count: Math.min(Math.max(0, integerOf('count', count, MAX_PER_PAGE)), MAX_PER_PAGE),
  };
}

function integerOf(name: string, given: unknown, otherwise: number): number {
  if (given === undefined || given === null || given === '') return otherwise;
  const number = typeof given === 'string' && /^-?\d{1,15}$/.test(given) ? Number(given) : given;
  if (typeof number !== 'number' || !Number.isSafeInteger(number)) {
    throw invalidValue(`${name} must be a whole number.`);
  }
  return number;
}

export function listResponse(
  resources: readonly object[],
  { total, offset }: { total: number; offset: number },
): object {
  return {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
    totalResults: total,
    startIndex: offset + 1,
    itemsPerPage: resources.length,
    Resources: resources,
  };
}
