import { z } from 'zod';
import { OPERATOR_ROLES } from '@tollgate/contracts/operator-roles';
import { Problem } from '@tollgate/http/problem';
import { Reply, operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { id, instant, nextCursor } from '../http/answer-fields.ts';
import { idParameter } from '../http/input/id-parameter.ts';
import { nameSchema } from '../http/input/name.ts';
import { cutPage, lookAhead, pageFields } from '../http/input/page.ts';
import { emailField } from '../identity/accounts/input.ts';
import { enqueueMail } from '../mail/mail-outbox.ts';
import { recordAudit } from '../platform/audit/audit-log.ts';
import { changeOf } from '../platform/audit/change.ts';
import { operator } from '../platform/audit/private-callers.ts';
import type { Operator } from '../platform/audit/private-callers.ts';
import { isUniqueViolation } from '../platform/database/query.ts';
import type { Query, Transact } from '../platform/database/query.ts';
import type { FourEyesSettings } from './four-eyes/settings.ts';
import { areTwo } from './four-eyes/store.ts';
import type { OperatorMail } from './operator-mails.ts';
import type { OperatorSite } from './settings.ts';
import {
  adminAddresses,
  deleteOperator,
  hasOperatorPasskey,
  insertLocalOperator,
  isAdmin,
  listOperators,
  lockLocalAdmins,
  lockLocalOperator,
  newLink,
} from './store.ts';
import type { LinkPurpose } from './store.ts';

type Needs = { query: Query; transact: Transact; operatorSite: OperatorSite };

type RemovalNeeds = Pick<Needs, 'transact' | 'operatorSite'> & { fourEyes: Pick<FourEyesSettings, 'mode'> };

const RECORDED = ['operator_id', 'name', 'email', 'local_role'] as const;

const operatorSchema = z
  .object({
    operator_id: id,
    name: z.string(),
    email: z.string().nullable(),
    local_role: z
      .enum(OPERATOR_ROLES)
      .nullable()
      .meta({ description: 'Null for those whose role an identity provider decides.' }),
    issuer: z
      .string()
      .nullable()
      .meta({ description: 'The identity provider; null for those who sign in with a passkey.' }),
    has_passkey: z.boolean(),
    last_seen_at: instant.nullable().meta({ description: 'Of the sessions that are kept.' }),
    created_at: instant,
  })
  .meta({ id: 'Operator' });

const linkFields = {
  url: z.string().meta({ description: 'Works once. Anyone who has it can use it.' }),
  expires_at: instant,
};

const ofOperator = z.object({ operator_id: idParameter });

export const operatorPeople = {
  title: 'Operators',
  description: "Who can sign in to the operators' console.",
  operations: [
    operation('GET /private/operators', {
      operationId: 'listOperators',
      summary: 'List operators, newest first',
      caller: operator,
      roles: ['admin'],
      query: z.strictObject(pageFields),
      answers: {
        200: {
          description: 'One page.',
          schema: z.object({ operators: z.array(operatorSchema), next_cursor: nextCursor }),
        },
      },
      handle: async ({ query: read }: Pick<Needs, 'query'>, { query }) => {
        const found = await listOperators(read, lookAhead(query));
        const { rows, next_cursor } = cutPage(found, query, ({ operator_id }) => operator_id);
        return { operators: rows, next_cursor };
      },
    }),
    operation('POST /private/operators', {
      operationId: 'createOperator',
      summary: 'Create an operator who signs in with a passkey',
      description: 'The passkey is created at `enrolment.url`, within 15 minutes.',
      caller: operator,
      roles: ['admin'],
      body: z.strictObject({ name: nameSchema, email: emailField, role: z.enum(OPERATOR_ROLES) }),
      example: { name: 'Grace', email: 'grace@example.com', role: 'support' },
      answers: {
        201: {
          description: 'The operator.',
          schema: z.object({ operator: operatorSchema, enrolment: z.object(linkFields) }),
        },
      },
      problems: ['email_taken', 'local_operators_off'],
      handle: async ({ transact, operatorSite }: Needs, { by, body }) => {
        const url = localUrlOf(operatorSite);
        return transact(async (inside) => {
          const made = await insertLocalOperator(inside, body).catch(refuseTaken);
          const { token, expires_at } = await newLink(inside, made.operator_id, 'enrolment');
          await recordAudit(inside, {
            ...by.actor,
            application_id: null,
            account_id: null,
            action: 'operator_created',
            details: { operator_id: made.operator_id, name: body.name, email: body.email, role: body.role },
            change: changeOf(RECORDED, null, made),
          });
          return new Reply(201, { operator: made, enrolment: { url: enrolmentUrl(url, token), expires_at } });
        });
      },
    }),
    operation('DELETE /private/operators/{operator_id}', {
      operationId: 'removeOperator',
      summary: 'Remove an operator',
      description:
        "Ends the operator's sessions, and their passkeys no longer work. All admins are told by mail if an admin is " +
        'removed. In the console, `second_operator_required` for the last one who could confirm what another asks for, ' +
        'where `FOUR_EYES=auto` counts them.',
      caller: operator,
      roles: ['admin'],
      needsReason: true,
      params: ofOperator,
      answers: { 204: { description: 'The operator is removed.' } },
      problems: ['last_admin', 'second_operator_required'],
      handle: async ({ transact, operatorSite, fourEyes }: RemovalNeeds, { by, params: { operator_id } }) => {
        const isAuto = fourEyes.mode === 'auto' && operatorSite.issuer === undefined;
        await transact(async (inside) => {
          const [one, ...others] = await lockLocalAdmins(inside);
          // An identity provider has admins of its own.
          const isLast = one === operator_id && others.length === 0 && operatorSite.issuer === undefined;
          if (isLast) throw new Problem('last_admin');
          const addresses = (await isAdmin(inside, operator_id)) ? await adminAddresses(inside) : [];
          // With a stolen session, an attacker could otherwise switch the second operator off.
          const mustStayTwo = isAuto && by.actor.person !== undefined && (await areTwo(inside));
          const removed = await deleteOperator(inside, operator_id);
          if (removed === undefined) throw new Problem('not_found');
          if (mustStayTwo && !(await areTwo(inside))) throw noSecondLeft();
          const { name, email, local_role } = removed;
          await recordAudit(inside, {
            ...by.actor,
            application_id: null,
            account_id: null,
            action: 'operator_removed',
            details: { operator_id, name, email, role: local_role },
            change: changeOf(RECORDED, { operator_id, name, email, local_role }, null),
          });
          for (const recipient of addresses) {
            const mail: OperatorMail = { kind: 'operator_admin_removed', recipient };
            await enqueueMail(inside, mail);
          }
        });
      },
    }),
    operation('POST /private/operators/{operator_id}/enrolment-link', {
      operationId: 'createOperatorEnrolmentLink',
      summary: 'Create another enrolment link for an operator without a passkey',
      description: 'The operator’s link before no longer works. This one works for 15 minutes.',
      caller: operator,
      roles: ['admin'],
      params: ofOperator,
      answers: { 201: { description: 'The link.', schema: z.object(linkFields) } },
      problems: ['local_operators_off', 'operator_enrolled'],
      handle: async ({ transact, operatorSite }: Needs, { by, params: { operator_id } }) => {
        const url = localUrlOf(operatorSite);
        return transact(async (inside) => {
          if ((await lockLocalOperator(inside, operator_id)) === undefined) throw new Problem('not_found');
          // With a second passkey, the holder of the link could act as someone who has signed in before.
          if (await hasOperatorPasskey(inside, operator_id)) throw new Problem('operator_enrolled');
          const { token, expires_at } = await newLink(inside, operator_id, 'enrolment');
          await recordLink(inside, by, { operator_id, purpose: 'enrolment' }, expires_at);
          return new Reply(201, { url: enrolmentUrl(url, token), expires_at });
        });
      },
    }),
    operation('POST /private/operators/{operator_id}/sign-in-link', {
      operationId: 'createOperatorSignInLink',
      summary: 'Create a link that signs a local operator in once',
      description:
        'For development: only where `OPERATORS_URL` is a loopback address, else `not_found`. It works for ten minutes.',
      caller: operator,
      roles: ['admin'],
      params: ofOperator,
      answers: { 201: { description: 'The link.', schema: z.object(linkFields) } },
      problems: ['local_operators_off'],
      handle: async ({ transact, operatorSite }: Needs, { by, params: { operator_id } }) => {
        const url = localUrlOf(operatorSite);
        if (!operatorSite.isLoopback) throw new Problem('not_found');
        return transact(async (inside) => {
          if ((await lockLocalOperator(inside, operator_id)) === undefined) throw new Problem('not_found');
          const { token, expires_at } = await newLink(inside, operator_id, 'sign_in');
          await recordLink(inside, by, { operator_id, purpose: 'sign_in' }, expires_at);
          return new Reply(201, { url: `${url}/#sign-in=${token}`, expires_at });
        });
      },
    }),
  ],
} satisfies Chapter;

/** @throws {Problem} local_operators_off */
function localUrlOf({ url, allowsLocal }: OperatorSite): string {
  if (url === undefined || !allowsLocal) {
    throw new Problem('local_operators_off', {
      detail: url === undefined ? 'OPERATORS_URL is not set.' : 'OPERATORS_LOCAL is false.',
    });
  }
  return url;
}

/** The token is in the fragment, which no server sees. */
function enrolmentUrl(url: string, token: string): string {
  return `${url}/#enrol=${token}`;
}

async function recordLink(
  inside: Query,
  { actor }: Operator,
  details: { operator_id: number; purpose: LinkPurpose },
  expires_at: Date,
): Promise<void> {
  const change = changeOf(['operator_id', 'purpose', 'expires_at'], null, { ...details, expires_at });
  const entry = { ...actor, application_id: null, account_id: null, details, change };
  await recordAudit(inside, { ...entry, action: 'operator_link_created' });
}

function noSecondLeft(): Problem {
  return new Problem('second_operator_required', {
    detail: 'No second operator would be left to confirm what another one asks for. Use the command for it.',
  });
}

function refuseTaken(error: unknown): never {
  if (isUniqueViolation(error)) throw new Problem('email_taken');
  throw error;
}
