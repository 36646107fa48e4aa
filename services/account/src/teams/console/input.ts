import { z } from 'zod';
import { idField } from '../../http/input/fields.ts';
import { nameSchema } from '../../http/input/name.ts';

/** Body of `POST` and `PATCH /api/console/team`. */
export const teamSchema = z.strictObject({ name: nameSchema });

/** Body of `POST /api/console/team/hand-over`. */
export const handOverSchema = z.strictObject({ account_id: idField });
