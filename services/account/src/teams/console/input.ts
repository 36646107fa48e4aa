import { z } from 'zod';
import { idField } from '../../http/input/fields.ts';
import { nameSchema } from '../../http/input/name.ts';

export const teamSchema = z.strictObject({ name: nameSchema });

export const handOverSchema = z.strictObject({ account_id: idField });
