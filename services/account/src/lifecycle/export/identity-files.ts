import { listApplications } from '../../access/applications/store.ts';
import { listConnections } from '../../access/connections/store.ts';
import { listDocumentsOfAccount } from '../../access/documents/store.ts';
import type { AccountDocument } from '../../access/documents/store.ts';
import { tokenStatus } from '../../access/tokens/rules.ts';
import { listOfAccount } from '../../access/tokens/store.ts';
import type { ListedRow } from '../../access/tokens/store.ts';
import { listApplicationBudgets } from '../../billing/budgets/store.ts';
import { ownEntry } from '../../identity/activity/entry.ts';
import { listOwnEntries } from '../../identity/activity/store.ts';
import { listSessions } from '../../identity/sessions/session-store.ts';
import { listPasskeys } from '../../identity/two-factor/passkeys/passkey-store.ts';
import { countRecoveryCodes } from '../../identity/two-factor/recovery-codes.ts';
import { totpEnabledAt } from '../../identity/two-factor/totp/totp-store.ts';
import { listSentMails } from '../../mail/sent-mails.ts';
import { allPages, exportTable, onePage, pagesAfter } from './export-file.ts';
import type { ExportRecord } from './export-file.ts';
import { findAccountRecord, listSsoIdentities } from './store.ts';

export const accountFile: ExportRecord = {
  name: 'account',
  description: 'Your name, email address and two-factor settings.',
  read: async ({ query, account_id }) => ({
    ...(await findAccountRecord(query, account_id)),
    totp_enabled_at: (await totpEnabledAt(query, account_id)) ?? null,
    recovery_codes_left: await countRecoveryCodes(query, account_id),
  }),
};

export const passkeys = exportTable({
  name: 'passkeys',
  description: 'Your passkeys.',
  columns: ['passkey_id', 'name', 'created_at', 'last_used_at'],
  pages: ({ query, account_id }) => onePage(listPasskeys(query, account_id)),
});

export const sessions = exportTable({
  name: 'sessions',
  description: 'Where you are signed in.',
  columns: ['session_id', 'created_at', 'last_seen_at', 'expires_at', 'address', 'user_agent'],
  pages: ({ query, account_id, lifetimes }) => onePage(listSessions(query, account_id, lifetimes)),
});

export const mails = exportTable({
  name: 'mails',
  description: 'Emails to you in the last 30 days, without their text.',
  columns: ['mail_id', 'kind', 'recipient', 'outcome', 'ended_at'],
  pages: ({ query, account_id }) => onePage(listSentMails(query, account_id)),
});

export const ssoIdentities = exportTable({
  name: 'single-sign-on',
  description: 'Whom the identity provider of your team knows you as.',
  columns: ['issuer', 'subject', 'created_at'],
  pages: ({ query, account_id }) => onePage(listSsoIdentities(query, account_id)),
});

export const applications = exportTable({
  name: 'applications',
  description: 'Your applications, without their client secrets.',
  columns: [
    'application_id',
    'name',
    'type',
    'status',
    'client_id',
    'token_lifespan_sec',
    'created_at',
    'last_used_at',
  ],
  pages: ({ query, account_id }) => {
    const all = { status: null, type: null, search: null };
    return allPages(
      (page) => listApplications(query, account_id, { ...page, ...all }),
      ({ application_id }) => application_id,
    );
  },
});

export const connections = exportTable({
  name: 'connections',
  description: 'The applications of others that act for you because you have allowed it.',
  columns: [
    'connection_id',
    'name',
    'client_id',
    'developer',
    'redirect_host',
    'scope',
    'created_at',
    'last_used_at',
    'expires_at',
    'points_usage',
  ],
  pages: ({ query, account_id }) => onePage(listConnections(query, account_id)),
});

export const applicationBudgets = exportTable({
  name: 'application-budgets',
  description:
    "What your applications may spend of the payer's points; empty is no limit. The manager's figures are those that the manager of your team has set.",
  columns: [
    'application_id',
    'points_per_period',
    'points_per_day',
    'manager_points_per_period',
    'manager_points_per_day',
  ],
  pages: ({ query, account_id }) => onePage(listApplicationBudgets(query, account_id)),
});

export const trustedDocuments = exportTable({
  name: 'trusted-documents',
  description: 'The GraphQL documents that are registered for your applications.',
  columns: ['application_id', 'api_version', 'sha256', 'document_id', 'document', 'registered_at'],
  pages: ({ query, account_id }) =>
    pagesAfter<AccountDocument>((after, limit) => listDocumentsOfAccount(query, account_id, after, limit)),
});

export const tokens = exportTable({
  name: 'tokens',
  description: 'Your manual access tokens, without the tokens themselves.',
  columns: [
    'token_id',
    'name',
    'status',
    'application_id',
    'application_name',
    'issued_at',
    'expires_at',
    'revoked_at',
    'last_used_at',
  ],
  pages: async function* ({ query, account_id, now }) {
    const all = { status: null, search: null, application_id: null, now };
    const pages = allPages(
      (page) => listOfAccount(query, account_id, { ...page, ...all }),
      ({ token_id }) => token_id,
    );
    const withStatus = (token: ListedRow) => {
      const application = { status: token.application_status, revocation_epoch: token.application_epoch };
      return { ...token, status: tokenStatus(token, application, now) };
    };
    for await (const rows of pages) yield rows.map(withStatus);
  },
});

export const activity = exportTable({
  name: 'activity',
  description: 'What was done in your account: when, by whom, and from which address.',
  columns: [
    'activity_id',
    'at',
    'action',
    'kind',
    'by',
    'member_name',
    'address',
    'request_id',
    'application_id',
    'application_name',
    'details',
  ],
  pages: async function* ({ query, account_id }) {
    const pages = allPages(
      (page) => listOwnEntries(query, account_id, page),
      ({ audit_id }) => audit_id,
    );
    for await (const rows of pages) {
      yield rows.map((row) => {
        const { application, ...entry } = ownEntry(row, account_id);
        return {
          ...entry,
          application_id: application?.application_id,
          application_name: application?.name,
        };
      });
    }
  },
});
