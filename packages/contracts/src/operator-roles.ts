/** The roles of operators (docs/operators.md). */
export const OPERATOR_ROLES = ['viewer', 'support', 'finance', 'admin'] as const;

export type OperatorRole = (typeof OPERATOR_ROLES)[number];

/** What each role is for, as docs/operators.md says it. */
export const ROLE_MEANINGS = {
  viewer: 'Reads everything but secrets and IP addresses.',
  support: 'Helps customers: revokes what leaked, blocks, and resets sign-in.',
  finance: 'Handles subscriptions, billing periods, credits and payments.',
  admin: 'Does everything.',
} as const satisfies Record<OperatorRole, string>;

/** Whether a role may call what `roles` states: all may do what viewers may, and admins may do everything. */
export function roleSuffices(role: OperatorRole, roles: readonly OperatorRole[]): boolean {
  return role === 'admin' || roles.includes('viewer') || roles.includes(role);
}
