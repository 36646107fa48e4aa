import { z } from 'zod';
import { documentSchema } from '../../services/account/src/plans-as-code/document.ts';

/** docs/plans.schema.json, for editors. */
export function plansSchema(): string {
  const schema = z.toJSONSchema(documentSchema, { io: 'input', target: 'draft-7', unrepresentable: 'any' });
  return `${JSON.stringify({ title: 'Plans of Tollgate', ...schema }, null, 2)}\n`;
}
