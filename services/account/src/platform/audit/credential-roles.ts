import { z } from 'zod';
import { OPERATOR_ROLES } from '@tollgate/contracts/operator-roles';
import type { OperatorRole } from '@tollgate/contracts/operator-roles';

const isRole = z.enum(OPERATOR_ROLES);

/** `OPERATOR_CREDENTIAL_ROLES` (docs/operators.md). */
export const credentialRoles = z
  .string()
  .transform((value) => value.split(/[\s,]+/).filter((pair) => pair !== ''))
  .transform((pairs, context) => {
    const roles = new Map<string, OperatorRole>();
    for (const pair of pairs) {
      const [, id = '', named] = /^([\w.-]+)=(\w+)$/.exec(pair) ?? [];
      const { data: role } = isRole.safeParse(named);
      if (role === undefined || roles.has(id)) {
        context.addIssue({
          code: 'custom',
          message: `must be id=role pairs separated by commas, each id once, with the roles ${OPERATOR_ROLES.join(', ')}`,
        });
        return z.NEVER;
      }
      roles.set(id, role);
    }
    return roles;
  })
  .meta({ values: `\`id=role\` pairs; ${OPERATOR_ROLES.map((role) => `\`${role}\``).join(', ')}` });

/** A role of a credential that isn't there is a misspelled id, which would leave the credential that is meant an admin's. */
export function checkRoles(
  settings: {
    OPERATOR_CREDENTIALS: { id: string }[];
    OPERATOR_CREDENTIAL_ROLES: ReadonlyMap<string, OperatorRole>;
  },
  context: z.RefinementCtx,
): void {
  const ids = new Set(settings.OPERATOR_CREDENTIALS.map(({ id }) => id));
  const unknown = [...settings.OPERATOR_CREDENTIAL_ROLES.keys()].filter((id) => !ids.has(id));
  if (unknown.length === 0) return;
  context.addIssue({
    code: 'custom',
    path: ['OPERATOR_CREDENTIAL_ROLES'],
    message: `must only have ids of OPERATOR_CREDENTIALS, which has no ${unknown.join(', ')}`,
  });
}
