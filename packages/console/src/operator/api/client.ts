import { createApiClient } from '../../api/client.ts';
import type { components, paths } from './schema.d.ts';

export type OperatorSession = components['schemas']['OperatorSession'];

/** Where a 401 says that there is no session, or that a sign-in failed. */
const BEFORE_SESSION = /^\/operator\/api\/(?:session|sign-in|enrolment)(?:\/|$)/;

/** The client of the operators' console: docs/openapi-operator-console.json types paths, bodies and answers. */
export const operatorApi = createApiClient<paths>(BEFORE_SESSION);
