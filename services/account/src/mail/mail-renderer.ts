import type { Query } from '../platform/database/query.ts';
import type { QueuedMail, RequestedMail } from './mail-outbox.ts';
import type { MailContent, MailSite } from './layout/mail-content.ts';

/** Returns undefined if the mail is no longer needed. */
type MailRenderer<Requested> = (
  query: Query,
  mail: Requested & Pick<QueuedMail, 'mail_id' | 'attempts'>,
  site: MailSite,
) => Promise<MailContent | undefined>;

export type MailRenderers<Requested extends RequestedMail> = {
  readonly [Kind in Requested['kind']]: MailRenderer<Extract<Requested, { kind: Kind }>>;
};

export type AnyMailRenderers = ReadonlyMap<string, MailRenderer<never>>;

/** @throws if no renderer has the mail's kind: a later version, running beside this one, queued it */
export function renderQueuedMail(
  renderers: AnyMailRenderers,
  query: Query,
  mail: QueuedMail,
  site: MailSite,
): Promise<MailContent | undefined> {
  const render = renderers.get(mail.kind);
  if (render === undefined) throw new Error(`this version has no renderer for mails of kind ${mail.kind}`);
  // The kind decides which columns of the row are set.
  return render(query, mail as never, site);
}
