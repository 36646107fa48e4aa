import type { Logger } from '@tollgate/log';
import { startRounds } from '@tollgate/server/background-loop';
import type { BackgroundLoop } from '@tollgate/server/background-loop';
import { findAccount } from '../../identity/accounts/account-store.ts';
import { enqueueMail } from '../../mail/mail-outbox.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { managerOf } from '../../teams/store.ts';
import type { ProvisioningMail } from '../settings/provisioning-mails.ts';
import { takeDueWarning } from './store.ts';

/** Mails managers before their directory's token ends. Every replica may run it: one takes a token. */
export function startTokenWarnings(options: {
  transact: Transact;
  intervalSec: number;
  wakeMails: () => void;
  logger: Pick<Logger, 'warn'>;
}): Pick<BackgroundLoop, 'close'> {
  const { transact, intervalSec, wakeMails, logger } = options;
  return startRounds(intervalSec * 1_000, async (signal) => {
    try {
      while (!signal.aborted && (await transact(warnNext))) wakeMails();
    } catch (error) {
      logger.warn(
        { err: error },
        'managers could not be told of ending tokens; retrying at the next interval',
      );
    }
  });
}

/** False if none is due. */
async function warnNext(query: Query): Promise<boolean> {
  const due = await takeDueWarning(query);
  if (due === undefined) return false;
  const account_id = await managerOf(query, due.team_id);
  const manager = await findAccount(query, account_id);
  if (manager === undefined) return true;
  const mail: ProvisioningMail = {
    kind: 'team_provisioning_token_ends',
    recipient: manager.email,
    account_id,
    name: String(due.days),
  };
  await enqueueMail(query, mail);
  return true;
}
