import { z } from 'zod';
import { Problem } from '@tollgate/http/problem';
import { Reply, operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { id, instant } from '../../http/answer-fields.ts';
import { idParameter } from '../../http/input/id-parameter.ts';
import { newSecretToken } from '../../identity/secret-token.ts';
import { enqueueMail } from '../../mail/mail-outbox.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import { changeOf } from '../../platform/audit/change.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import type { OperatorMail } from '../operator-mails.ts';
import { signedInOperator } from '../require-operator-session.ts';
import { refuseOthersThanAdmins, viewOf } from './enter-view.ts';
import { beginView, endView, findViewable } from './store.ts';

const viewFields = {
  account_id: id,
  email: z.string(),
  name: z.string(),
  began_at: instant,
  expires_at: instant,
};

export const operatorViews = {
  title: 'Viewing as a customer',
  description:
    'The reading operations of `/api/console` answer below `/operator/api/view` as they answer the customer, for someone who has begun a view: `GET /operator/api/view/applications` is `GET /api/console/applications`. They need `X-View-Token`. Nothing that reveals a secret is among them, and anything else is `read_only`.',
  operations: [
    operation('POST /operator/api/accounts/{account_id}/view', {
      operationId: 'beginCustomerView',
      summary: 'Begin to view as a customer',
      description:
        'Ends after 15 minutes, or with the session. An operator has one view of a customer at a time: this one ends the one before. Beginning and end are in the customer’s activity, each request in the audit log.',
      caller: signedInOperator,
      roles: ['support'],
      needsReason: true,
      params: z.object({ account_id: idParameter }),
      body: z.strictObject({
        override: z.boolean('must be true or false').meta({
          description:
            'Although the customer forbids it: for admins. The customer is told by mail, with the reason.',
        }),
      }),
      example: { override: false },
      answers: {
        201: {
          description: 'The view.',
          schema: z.object({ ...viewFields, token: z.string().meta({ description: 'For `X-View-Token`.' }) }),
        },
      },
      problems: ['view_forbidden'],
      handle: async (
        { transact }: { transact: Transact },
        { by: { session, role, actor }, params: { account_id }, body: { override } },
      ) =>
        transact(async (inside) => {
          const account = await findViewable(inside, account_id);
          if (account === undefined) throw new Problem('not_found');
          if (account.is_for_admins) refuseOthersThanAdmins({ role });
          const is_override = !account.is_allowed;
          if (is_override && !(override && role === 'admin')) throw new Problem('view_forbidden');
          const { operator_id, session_id } = session;
          const token = newSecretToken();
          const wanted = { operator_id, session_id, account_id, token, is_override };
          const { began_at, expires_at } = await beginView(inside, wanted, actor);
          await recordAudit(inside, {
            ...actor,
            application_id: null,
            account_id,
            action: 'customer_view_begun',
            details: { viewed_as: account_id, expires_at, is_override },
            change: changeOf(['account_id', 'began_at', 'expires_at'], null, {
              account_id,
              began_at,
              expires_at,
            }),
          });
          const { email, name } = account;
          if (is_override) {
            const mail: OperatorMail = { kind: 'operator_view_overridden', recipient: email, account_id };
            await enqueueMail(inside, mail);
          }
          return new Reply(201, { account_id, email, name, began_at, expires_at, token });
        }),
    }),
    operation('GET /operator/api/view', {
      operationId: 'getCustomerView',
      summary: 'Get whom the operator views as, and until when',
      caller: signedInOperator,
      roles: ['support'],
      answers: { 200: { description: 'The view.', schema: z.object(viewFields) } },
      problems: ['view_ended'],
      handle: async ({ query }: { query: Query }, { by, req }) => {
        const { account, began_at, expires_at } = await viewOf(query, by, req);
        const { account_id, email, name } = account;
        return { account_id, email, name, began_at, expires_at };
      },
    }),
    operation('DELETE /operator/api/view', {
      operationId: 'endCustomerView',
      summary: 'Stop viewing as a customer',
      caller: signedInOperator,
      roles: ['support'],
      answers: { 204: { description: 'The view has ended.' } },
      problems: ['view_ended'],
      handle: async ({ query }: { query: Query }, { by, req }) => {
        const { view_id } = await viewOf(query, by, req);
        await endView(query, view_id);
      },
    }),
  ],
} satisfies Chapter;
