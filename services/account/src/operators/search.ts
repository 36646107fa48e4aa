import { z } from 'zod';
import { clientIdOf } from '@tollgate/credentials/access-token';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import type { Application } from '../access/applications/application.ts';
import { findOwnerOfClient, listApplications } from '../access/applications/store.ts';
import { id } from '../http/answer-fields.ts';
import { describedAs } from '../http/input/described-as.ts';
import { findByEmailBeginning, findOperatedAccount } from '../identity/accounts/operator-store.ts';
import { refuseExceeded } from '../identity/attempts/attempt-counts.ts';
import type { AttemptCounts } from '../identity/attempts/attempt-counts.ts';
import { recordAudit } from '../platform/audit/audit-log.ts';
import { findInvoicesByNumber } from '../payments/invoices/store.ts';
import type { Query, Transact } from '../platform/database/query.ts';
import { findRefusals } from '../refusals/store.ts';
import { operatorSession } from './require-operator-session.ts';

const MAX_FOUND = 20;
const NEWEST = { limit: MAX_FOUND, before: Number.MAX_SAFE_INTEGER };

/** An operator who reads customers out one by one is stopped; one who helps them is not. */
const SEARCHES = { max: 60, windowSec: 60 };

/** How much of a token's secret part may be shown: it tells tokens of an application apart, and opens nothing. */
const SHOWN_CHARACTERS = 4;

/** Also one that was cut or has a prefix of the installation's own (docs/adr/0004-access-token-format.md). */
const ACCESS_TOKEN = new RegExp(`_[0-9A-Za-z]{22}_[0-9A-Za-z]{${String(SHOWN_CHARACTERS + 1)}}`);

/** The beginning of a token: its application part, and no more of the secret part than may be shown. */
const TOKEN_BEGINNING = new RegExp(
  `^\\w+_([0-9A-Za-z]{22})(?:_[0-9A-Za-z]{0,${String(SHOWN_CHARACTERS)}})?(?:…|\\.\\.\\.)?$`,
);

/** Shorter ones would list customers instead of finding one. */
const EMAIL_MIN_CHARACTERS = 3;

const TEXT_MAX_CHARACTERS = 300;

const textField = describedAs(
  z
    .string('must be text')
    .transform((value) => value.trim())
    .refine((value) => value.length > 0, 'must not be empty')
    .refine((value) => value.length <= TEXT_MAX_CHARACTERS, 'is too long')
    .refine((value) => value.isWellFormed() && !value.includes('\0'), 'must be Unicode text without NUL')
    .refine(
      (value) => !ACCESS_TOKEN.test(value),
      'This is a token. Ask the customer to revoke it, and find them otherwise.',
    ),
  { type: 'string', minLength: 1, maxLength: TEXT_MAX_CHARACTERS },
);

type Found = { account_id: number; what: string };

/** `text`: the beginning of an email address, a part of an application, or an invoice's number. */
type Kind = 'account' | 'email' | 'request' | 'token' | 'text';

type Needs = { transact: Transact; counts: AttemptCounts };

/** Of the console only: programs list what they look for. */
export const operatorSearch = {
  title: 'Search',
  description: 'For customers, by what they quote.',
  operations: [
    operation('POST /operator/api/search', {
      operationId: 'searchAsOperator',
      summary: 'Find customers by what they quote',
      description:
        'The beginning of an email address or of a token (without more than 4 characters of its secret part), an account ID, a request ID, an invoice’s number, or a part of an application’s name or client ID. Each search is in the audit log with its kind and the number of results, without the text.',
      caller: operatorSession,
      body: z.strictObject({ text: textField }),
      example: { text: 'ada@example.com' },
      answers: {
        200: {
          description: `Of each kind at most ${String(MAX_FOUND)}, newest first; accounts by their address.`,
          schema: z.object({ found: z.array(z.object({ account_id: id, what: z.string() })) }),
        },
      },
      problems: ['too_many_requests'],
      handle: async ({ transact, counts }: Needs, { by: { actor, session }, body: { text } }) => {
        const subject = `operator search ${String(session.operator_id)}`;
        refuseExceeded(await counts.take([{ subject, ...SEARCHES }]));
        const kind = kindOf(text);
        return transact(async (inside) => {
          const found = await FIND[kind](inside, text);
          // The text may be a customer's address, which would outlive the account here.
          const details = { kind, found: found.length };
          const entry = { ...actor, application_id: null, account_id: null, details };
          await recordAudit(inside, { ...entry, action: 'operator_searched' });
          return { found };
        });
      },
    }),
  ],
} satisfies Chapter;

function kindOf(text: string): Kind {
  if (/^[1-9]\d{0,14}$/.test(text)) return 'account';
  if (text.includes('@')) return 'email';
  if (TOKEN_BEGINNING.test(text)) return 'token';
  return /^[0-9a-f]{32}$/i.test(text) ? 'request' : 'text';
}

const FIND: Readonly<Record<Kind, (query: Query, text: string) => Promise<Found[]>>> = {
  account: async (query, text) => {
    const account = await findOperatedAccount(query, Number(text));
    return account === undefined ? [] : [{ account_id: account.account_id, what: account.email }];
  },
  email: findByEmail,
  request: async (query, text) => {
    const records = await findRefusals(query, text.toLowerCase());
    return records
      .flatMap(({ account_id, code, at }) =>
        account_id === null ? [] : [{ account_id, what: `${code}, ${at.toISOString()}` }],
      )
      .slice(0, MAX_FOUND);
  },
  token: async (query, text) => {
    const clientId = clientIdOf(TOKEN_BEGINNING.exec(text)?.[1] ?? '');
    const owner = clientId === null ? undefined : await findOwnerOfClient(query, clientId);
    return owner === undefined ? [] : foundApplication(owner);
  },
  text: async (query, text) => {
    const applications = await listApplications(query, null, {
      ...NEWEST,
      search: text,
      status: null,
      type: null,
    });
    return [
      ...(await findByEmail(query, text)),
      ...applications.flatMap(foundApplication),
      ...(await findByInvoice(query, text)),
    ];
  },
};

async function findByEmail(query: Query, beginning: string): Promise<Found[]> {
  if (beginning.length < EMAIL_MIN_CHARACTERS) return [];
  const accounts = await findByEmailBeginning(query, beginning, MAX_FOUND);
  return accounts.map(({ account_id, email: what }) => ({ account_id, what }));
}

async function findByInvoice(query: Query, number: string): Promise<Found[]> {
  const invoices = await findInvoicesByNumber(query, number, MAX_FOUND);
  return invoices.map(({ account_id, number: own, state }) => ({
    account_id,
    what: `Invoice ${own ?? ''} (${state})`,
  }));
}

/** None for one that registered itself: there is no account to open. */
function foundApplication({
  account_id,
  name,
  client_id,
}: Pick<Application, 'account_id' | 'name' | 'client_id'>): Found[] {
  return account_id === null ? [] : [{ account_id, what: `${name} (${client_id})` }];
}
