import { operatorApplications } from '../access/applications/operations.ts';
import { operatorTokens } from '../access/tokens/operations.ts';

/** What operators may do, on the private listener, in reading order. */
export const OPERATOR_API = [operatorApplications, operatorTokens] as const;
