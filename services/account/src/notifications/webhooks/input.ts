import { z } from 'zod';
import { descriptionSchema } from '../../http/input/name.ts';
import { describedAs } from '../../http/input/described-as.ts';
import { pageFields } from '../../http/input/page.ts';
import { URL_MAX_CHARACTERS } from '../../platform/outgoing/url-rules.ts';

/** Which URLs are allowed depends on settings, so url-rules.ts checks them. */
const url = describedAs(z.string('must be text'), {
  type: 'string',
  format: 'uri',
  maxLength: URL_MAX_CHARACTERS,
  description:
    'An https:// URL of a public server, without user, password or fragment. The port is 443, 80, or 1024 and above.',
});

export const newWebhookSchema = z.strictObject({ url, description: descriptionSchema.optional() });

export const webhookChangesSchema = z.strictObject({
  url: url.optional(),
  description: descriptionSchema.optional(),
  enabled: z.boolean('must be true or false').optional(),
});

const OVERLAP_MAX_SEC = 604_800;
const WANTED_OVERLAP = `must be a whole number of seconds from 0 to ${String(OVERLAP_MAX_SEC)}`;

export const webhookRotationSchema = z.strictObject({
  overlap_sec: z.int(WANTED_OVERLAP).min(0, WANTED_OVERLAP).max(OVERLAP_MAX_SEC, WANTED_OVERLAP),
});

export const deliveryListSchema = z.strictObject({
  ...pageFields,
  status: z.enum(['pending', 'delivered', 'failed'], 'must be pending, delivered or failed').optional(),
});
