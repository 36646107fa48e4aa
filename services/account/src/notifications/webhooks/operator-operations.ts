import { z } from 'zod';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { id, nextCursor } from '../../http/answer-fields.ts';
import { idParameter } from '../../http/input/id-parameter.ts';
import { cutPage, lookAhead, pageFields } from '../../http/input/page.ts';
import { requireAccount } from '../../identity/accounts/account-store.ts';
import { ofAccount } from '../../identity/accounts/operations.ts';
import type { AttemptCounts } from '../../identity/attempts/attempt-counts.ts';
import { operator } from '../../platform/audit/private-callers.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { listAccountDeliveries } from '../deliveries/stores/delivery-store.ts';
import { deliverySchema, webhookSchema } from './answers.ts';
import { retryDelivery, shownUrl } from './changes.ts';
import { countAskedFor, webhookAnswer } from './operations.ts';
import { listWebhooks } from './store.ts';

type RetryNeeds = { transact: Transact; counts: AttemptCounts; wakeWebhooks: () => void };

const sentSchema = deliverySchema
  .extend({
    webhook_id: id,
    url: z.string().meta({ description: 'Of the webhook, without path and parameters.' }),
  })
  .meta({ id: 'AccountWebhookDelivery' });

export const operatorWebhooks = {
  title: 'Webhooks of accounts',
  description:
    'What was sent to servers of customers. Addresses are shown without path and parameters, which often hold a secret.',
  operations: [
    operation('GET /private/accounts/{account_id}/webhooks', {
      operationId: 'listAccountWebhooks',
      summary: 'List the webhooks of an account, newest first',
      caller: operator,
      roles: ['viewer'],
      params: ofAccount,
      answers: {
        200: { description: 'All webhooks.', schema: z.object({ webhooks: z.array(webhookSchema) }) },
      },
      handle: async ({ query }: { query: Query }, { params: { account_id } }) => {
        await requireAccount(query, account_id);
        const webhooks = await listWebhooks(query, account_id);
        return { webhooks: webhooks.map((one) => ({ ...webhookAnswer(one), url: shownUrl(one.url) })) };
      },
    }),
    operation('GET /private/accounts/{account_id}/webhook-deliveries', {
      operationId: 'listAccountWebhookDeliveries',
      summary: 'List deliveries to the webhooks of an account, newest first',
      caller: operator,
      roles: ['viewer'],
      params: ofAccount,
      query: z.strictObject(pageFields),
      answers: {
        200: {
          description: 'One page.',
          schema: z.object({ deliveries: z.array(sentSchema), next_cursor: nextCursor }),
        },
      },
      handle: async ({ query: read }: { query: Query }, { params: { account_id }, query }) => {
        await requireAccount(read, account_id);
        const found = await listAccountDeliveries(read, account_id, lookAhead(query));
        const { rows, next_cursor } = cutPage(found, query, ({ delivery_id }) => delivery_id);
        return { deliveries: rows.map((one) => ({ ...one, url: shownUrl(one.url) })), next_cursor };
      },
    }),
    operation('POST /private/accounts/{account_id}/webhooks/{webhook_id}/deliveries/{delivery_id}/retry', {
      operationId: 'retryAccountWebhookDelivery',
      summary: 'Send a delivery to a webhook of an account again',
      description: 'Whatever its status, at once, with the same `webhook-id`.',
      caller: operator,
      roles: ['support'],
      params: ofAccount.extend({ webhook_id: idParameter, delivery_id: idParameter }),
      answers: { 200: { description: 'The delivery, which is pending.', schema: deliverySchema } },
      problems: ['webhook_disabled', 'too_many_requests'],
      handle: async ({ transact, counts, wakeWebhooks }: RetryNeeds, { by: { actor }, params }) => {
        const { account_id, webhook_id, delivery_id } = params;
        await countAskedFor(counts, account_id);
        const delivery = await transact((query) =>
          retryDelivery(query, webhook_id, delivery_id, { account_id, actor }),
        );
        wakeWebhooks();
        return delivery;
      },
    }),
  ],
} satisfies Chapter;
