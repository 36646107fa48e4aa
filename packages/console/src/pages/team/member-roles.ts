import type { Member } from './queries.ts';

export type MemberRole = NonNullable<Member['member_role']>;

/** What a member may do in the team, the usual one first. */
export const MEMBER_ROLES = [
  {
    value: 'developer',
    label: 'Developer',
    description: 'Creates applications and tokens, and sees their own usage.',
  },
  {
    value: 'billing',
    label: 'Billing',
    description:
      'Also sees the usage of the whole team, and manages its plan, invoices and payment details: the manager pays.',
  },
  {
    value: 'viewer',
    label: 'Viewer',
    description: 'Creates no applications and tokens. Existing ones keep working.',
  },
] as const satisfies readonly { value: MemberRole; label: string; description: string }[];

export function roleInWords({ member_role }: Pick<Member, 'member_role'>): string {
  return MEMBER_ROLES.find(({ value }) => value === member_role)?.label ?? 'Manager';
}

/** Of a form's field. */
export function memberRoleOf(value: string | undefined): MemberRole {
  return MEMBER_ROLES.find((role) => role.value === value)?.value ?? 'developer';
}
