import { OPERATOR_ROLES, ROLE_MEANINGS, roleSuffices } from '../../packages/contracts/src/operator-roles.ts';
import { OPERATOR_API } from '../../services/account/src/api/operator.ts';
import { table } from './markdown.ts';

/** The tables of docs/operators.md. */
export function roleTables(): Record<string, string> {
  return {
    roles: table(
      ['role', 'what it is for'],
      OPERATOR_ROLES.map((role) => [`\`${role}\``, ROLE_MEANINGS[role]]),
    ),
    'operator-operations': OPERATOR_API.map(chapterText).join('\n\n'),
  };
}

function chapterText({ title, operations }: (typeof OPERATOR_API)[number]): string {
  const rows = operations.map(({ method, path, summary, roles = [] }) => [
    summary,
    `\`${method} ${path}\``,
    ...OPERATOR_ROLES.map((role) => (roleSuffices(role, roles) ? 'yes' : '')),
  ]);
  return `### ${title}\n\n${table(['operation', 'route', ...OPERATOR_ROLES], rows)}`;
}
