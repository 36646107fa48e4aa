import { serviceCallerId } from '@tollgate/http/private-api-credential';
import type { Caller } from '@tollgate/operation';

/** The handler authenticates it, because its credentials may be in the form. */
export const client: Caller<undefined> = { name: 'client', of: () => undefined };

/** By the id of its credential. */
export const service: Caller<string> = { name: 'service', of: (_req, res) => serviceCallerId(res) };
