import { z } from 'zod';

/** CORS_ALLOWED_ORIGINS: origins as browsers send them, or `*` for all. */
export const allowedOrigins = z
  .string()
  .transform((value) => value.split(/[\s,]+/).filter((origin) => origin !== ''))
  .refine(
    (origins) => origins.every(isOrigin) || (origins.length === 1 && origins[0] === '*'),
    'must be origins (scheme://host, and the port where it is not the default one, in lower case) separated by commas, or * alone',
  )
  .default([])
  .meta({ values: 'origins, separated by commas, or `*` for all' });

function isOrigin(value: string): boolean {
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^/?#@*\\]+$/.test(value) || !URL.canParse(value)) return false;
  // URL has no origin for the schemes of mobile applications.
  const { origin } = new URL(value);
  return origin === 'null' ? value === value.toLowerCase() : origin === value;
}
