import { z } from 'zod';
import { idField } from '../../http/input/fields.ts';
import { nameSchema } from '../../http/input/name.ts';
import { addressSchema } from '../../identity/accounts/input.ts';
import { memberRoleSchema } from '../../identity/accounts/member-roles.ts';

export const invitedSchema = addressSchema.extend({ member_role: memberRoleSchema.optional() });

export const memberRoleChangeSchema = z.strictObject({ member_role: memberRoleSchema });

export const teamSchema = z.strictObject({ name: nameSchema });

export const handOverSchema = z.strictObject({ account_id: idField });
