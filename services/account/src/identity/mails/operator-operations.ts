import { z } from 'zod';
import { Problem } from '@tollgate/http/problem';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { id, instant, nextCursor } from '../../http/answer-fields.ts';
import { idParameter } from '../../http/input/id-parameter.ts';
import { cutPage, lookAhead, pageFields } from '../../http/input/page.ts';
import { MAIL_STATES, listMails, repeatMail } from '../../mail/sent-mails.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import { changeOf } from '../../platform/audit/change.ts';
import { operator } from '../../platform/audit/private-callers.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { lockAccount } from '../accounts/account-store.ts';
import { ofAccount } from '../accounts/operations.ts';
import { findOperatedAccount } from '../accounts/operator-store.ts';
import { refuseExceeded } from '../attempts/attempt-counts.ts';
import type { RequestedMails } from '../attempts/mail-limits.ts';

/** Mails sent again to one account: each goes to a person's address. */
const SENT_AGAIN = { max: 20, windowSec: 3_600 };

const mailSchema = z
  .object({
    mail_id: id,
    kind: z.string().meta({ description: 'What it is about, for example `password_reset`.' }),
    state: z.enum(MAIL_STATES).meta({
      description:
        '`given_up`: it was refused, or could not be sent for a day. `outdated`: not needed any more when its turn came.',
    }),
    requested_at: instant,
    ended_at: instant.nullable().meta({ description: 'Null while it waits.' }),
  })
  .meta({ id: 'AccountMail' });

export const operatorMailing = {
  title: 'Mails',
  description: 'Mails to the present address of an account, of the last 30 days, without their text.',
  operations: [
    operation('GET /private/accounts/{account_id}/mails', {
      operationId: 'listAccountMails',
      summary: 'List mails to the owner of an account, newest first',
      caller: operator,
      roles: ['viewer'],
      params: ofAccount,
      query: z.strictObject(pageFields),
      answers: {
        200: {
          description: 'One page.',
          schema: z.object({ mails: z.array(mailSchema), next_cursor: nextCursor }),
        },
      },
      handle: async ({ query: read }: { query: Query }, { params: { account_id }, query }) => {
        const account = await findOperatedAccount(read, account_id);
        if (account === undefined) throw new Problem('not_found');
        const found = await listMails(read, account, lookAhead(query));
        const { rows, next_cursor } = cutPage(found, query, ({ mail_id }) => mail_id);
        return { mails: rows, next_cursor };
      },
    }),
    operation('POST /private/accounts/{account_id}/mails/{mail_id}/send-again', {
      operationId: 'sendAccountMailAgain',
      summary: 'Send a mail again',
      description:
        'Text and links are made anew, and an earlier link goes on working until it expires. `not_found` also for a mail ' +
        'that still waits, and for one about something that was deleted since.',
      caller: operator,
      roles: ['support'],
      params: ofAccount.extend({ mail_id: idParameter }),
      answers: { 200: { description: 'The mail, which waits.', schema: mailSchema } },
      problems: ['too_many_requests'],
      handle: async (
        { transact, counts, wakeMails }: Omit<RequestedMails, 'mailLimits'> & { transact: Transact },
        { by: { actor }, params: { account_id, mail_id } },
      ) => {
        const subject = `mails again ${String(account_id)}`;
        refuseExceeded(await counts.take([{ subject, ...SENT_AGAIN }]));
        const again = await transact(async (inside) => {
          const account = await lockAccount(inside, account_id);
          const { request_id } = actor;
          const made =
            account === undefined ? undefined : await repeatMail(inside, { ...account, mail_id, request_id });
          if (made === undefined) throw new Problem('not_found');
          const details = { kind: made.kind, mail_id_before: mail_id, mail_id: made.mail_id };
          const change = changeOf(['mail_id', 'kind'], null, made);
          const entry = { ...actor, application_id: null, account_id, details, change };
          await recordAudit(inside, { ...entry, action: 'mail_sent_again' });
          return made;
        });
        wakeMails();
        return again;
      },
    }),
  ],
} satisfies Chapter;
