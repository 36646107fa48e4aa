import { z } from 'zod';

/** Any JSON value. Registered in place: the schema contains itself, and a copy with a name would contain the one without. */
export const jsonValue = z.json('must be JSON').register(z.globalRegistry, { id: 'JsonValue' });
