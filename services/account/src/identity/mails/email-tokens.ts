import type { Query } from '../../platform/database/query.ts';
import { NO_PASSWORD } from '../no-password.ts';
import { hashOfToken, newSecretToken } from '../secret-token.ts';

export type EmailToken =
  | { purpose: 'sign_up'; email: string; name: string }
  | { purpose: 'change_email' | 'reset_password'; email: string; account_id: number };

type Purpose = EmailToken['purpose'];

const HOUR_SEC = 3_600;

/** Counted from when the mail is sent, which a mail server's outage can delay. */
const LIFETIME_SEC: Record<Purpose, number> = {
  sign_up: 24 * HOUR_SEC,
  change_email: 24 * HOUR_SEC,
  reset_password: HOUR_SEC,
};

const insertion = (from: string) => `
  INSERT INTO email_tokens (token_hash, purpose, email, account_id, name, password_hash, expires_at)
  SELECT :token_hash, :purpose, :email, :account_id, :name, :password_hash, now() + :lifetimeSec * interval '1 second'
  ${from} RETURNING 1`;

function rowOf(token: string, made: EmailToken) {
  return {
    account_id: null,
    name: null,
    ...made,
    // The schema wants one: it is chosen when the link is used.
    password_hash: made.purpose === 'sign_up' ? NO_PASSWORD : null,
    token_hash: hashOfToken(token),
    lifetimeSec: LIFETIME_SEC[made.purpose],
  };
}

export async function issueEmailToken(query: Query, made: EmailToken): Promise<string> {
  const token = newSecretToken();
  await query(insertion(''), rowOf(token, made));
  return token;
}

/** Undefined if `endEmailTokens` has taken the mail. At the same moment, one of the two waits for the other. */
export async function issueTokenOfMail(
  query: Query,
  mailId: number,
  made: EmailToken,
): Promise<string | undefined> {
  const token = newSecretToken();
  const waiting = insertion('FROM mail_outbox WHERE mail_id = :mailId FOR KEY SHARE');
  const rows = await query(waiting, { ...rowOf(token, made), mailId });
  return rows.length > 0 ? token : undefined;
}

const COLUMNS = 'purpose, email, account_id, name';

/** Finds a valid token and leaves it valid. */
export async function findEmailToken(query: Query, token: string): Promise<EmailToken | undefined> {
  const rows = await query<EmailToken>(
    `SELECT ${COLUMNS} FROM email_tokens WHERE token_hash = :token_hash AND expires_at > now()`,
    { token_hash: hashOfToken(token) },
  );
  return rows[0];
}

/** Of two concurrent uses the second finds none. */
export async function consumeEmailToken(query: Query, token: string): Promise<boolean> {
  const rows = await query(
    'DELETE FROM email_tokens WHERE token_hash = :token_hash AND expires_at > now() RETURNING 1',
    { token_hash: hashOfToken(token) },
  );
  return rows.length > 0;
}

export async function newestSignUp(query: Query, email: string): Promise<EmailToken | undefined> {
  const rows = await query<EmailToken>(
    `SELECT ${COLUMNS} FROM email_tokens
     WHERE purpose = 'sign_up' AND lower(email) = lower(:email) AND expires_at > now()
     ORDER BY created_at DESC LIMIT 1`,
    { email },
  );
  return rows[0];
}

export async function endSignUps(query: Query, email: string): Promise<void> {
  await query("DELETE FROM email_tokens WHERE purpose = 'sign_up' AND lower(email) = lower(:email)", {
    email,
  });
}

/**
 * For changes that make the links, or the address they went to, outdated. The mails to a new address that wait go first:
 * each attempt to send one makes another link, and its server may put it off for as long as it likes.
 */
export async function endEmailTokens(query: Query, accountId: number): Promise<void> {
  await query("DELETE FROM mail_outbox WHERE account_id = :accountId AND kind = 'email_change'", {
    accountId,
  });
  await query('DELETE FROM email_tokens WHERE account_id = :accountId', { accountId });
}
