/** A mail as the transports take it: plain text, and the same as simple HTML without images or tracking. */
export type Mail = { to: string; subject: string; text: string; html: string };

/** Texts hold nothing that a stranger typed: no name, so that nobody can make us send words of theirs. */
type Wording = { subject: string; lines: readonly string[]; link?: string; closing?: string };

const NOT_YOU = "If that wasn't you, do nothing: without the link nothing happens.";

export function verifySignUpMail(to: string, link: string): Mail {
  return render(to, {
    subject: 'Verify your e-mail address',
    lines: [
      'Confirm your e-mail address to finish signing up for Tollgate.',
      'The link asks for the password that you chose. If it is refused, someone else has signed up with your address: use the link of your own sign-up, or sign up again.',
    ],
    link,
    closing: "The link expires in 24 hours. If you didn't sign up, ignore this mail and no account is made.",
  });
}

export function alreadySignedUpMail(to: string, link: string): Mail {
  return render(to, {
    subject: 'You have an account already',
    lines: [
      'Somebody, hopefully you, wanted to sign up at Tollgate with this e-mail address, which has an account.',
      'Sign in with the password that you have, or choose a new one here:',
    ],
    link,
    closing: "If that wasn't you, do nothing: your account is as it was.",
  });
}

export function verifyNewEmailMail(to: string, link: string): Mail {
  return render(to, {
    subject: 'Verify your new e-mail address',
    lines: ['Somebody, hopefully you, wants this to be the e-mail address of a Tollgate account.'],
    link,
    closing: `The link is good for 24 hours. ${NOT_YOU}`,
  });
}

export function emailInUseMail(to: string): Mail {
  return render(to, {
    subject: 'This e-mail address has an account',
    lines: [
      'Somebody, hopefully you, wants this to be the e-mail address of a Tollgate account.',
      'It is that of another account already, so nothing was changed.',
    ],
  });
}

export function resetPasswordMail(to: string, link: string): Mail {
  return render(to, {
    subject: 'Choose a new password',
    lines: ['Somebody, hopefully you, has asked for a new password of your Tollgate account.'],
    link,
    closing: `The link is good for one hour, and once. ${NOT_YOU}`,
  });
}

export function passwordChangedMail(to: string, link: string): Mail {
  return render(to, {
    subject: 'Your password was changed',
    lines: [
      'The password of your Tollgate account was changed, and all other sessions were ended.',
      "If that wasn't you, choose a new password at once:",
    ],
    link,
  });
}

export function emailChangedMail(to: string): Mail {
  return render(to, {
    subject: 'Your e-mail address was changed',
    lines: [
      'Your Tollgate account has another e-mail address now, and no more mail about it will come here.',
      "If that wasn't you, write to whoever runs this Tollgate at once.",
    ],
  });
}

/** Who invites, and into which team, is told behind the link: both are words that somebody typed. */
export function teamInvitationMail(to: string, link: string): Mail {
  return render(to, {
    subject: 'You are invited into a team',
    lines: [
      'The manager of a team at Tollgate invites you into it. Your calls are then billed to its plan.',
      'See who it is, and accept or decline, here:',
    ],
    link,
    closing: 'The invitation is good for 7 days. If you do nothing, nothing happens.',
  });
}

export function teamHandedOverMail(to: string, link: string): Mail {
  return render(to, {
    subject: 'You manage a team now',
    lines: [
      'The manager of your team at Tollgate has handed it over to you.',
      "From now on the calls of all of its members are billed to your plan. If you don't want that, hand it on or dissolve it:",
    ],
    link,
  });
}

/** An alert as its mail tells of it. `unit` is empty for what is counted in pieces. */
export type UsageAlertMail = {
  to: string;
  limit: string;
  unit: string;
  share: number;
  used: number;
  limit_value: number;
  started_at: Date;
  ended_at: Date;
};

/** The plan's name is left out: somebody typed it. */
export function usageAlertMail(alert: UsageAlertMail, link: string): Mail {
  const { to, limit, unit, share, used, limit_value } = alert;
  const [started, ended] = [alert.started_at, alert.ended_at].map((at) => at.toISOString().slice(0, 10));
  // Usage goes on beyond a threshold, and whole seconds may fall short of it.
  const percent = String(Math.min(100, Math.max(share, Math.floor((used / limit_value) * 100))));
  const amount = (count: number) => `${count.toLocaleString('en')}${unit === '' ? '' : ` ${unit}`}`;
  return render(to, {
    subject: `${percent} % of your ${limit} are used`,
    lines: [
      `In the billing period from ${String(started)} to ${String(ended)} (UTC), ${amount(used)} of ${amount(limit_value)} are used. The alert threshold is ${String(share)} %.`,
      'See the current usage, and who used it:',
    ],
    link,
    closing:
      'Each threshold is reported once per billing period. Change the alert thresholds, or turn off these mails, in your account.',
  });
}

/** A webhook as its mail names it: the address without query and user info. */
export type NamedWebhook = { webhook_id: number; address: string };

/** The address was typed by the one whom the mail goes to. */
export function webhookDisabledMail(to: string, link: string, webhook?: NamedWebhook): Mail {
  const { name, path } =
    webhook === undefined
      ? { name: 'A webhook', path: '/api/console/webhooks/{webhook_id}' }
      : {
          name: `The webhook ${String(webhook.webhook_id)}, ${webhook.address},`,
          path: `/api/console/webhooks/${String(webhook.webhook_id)}`,
        };
  return render(to, {
    subject: 'A webhook was switched off',
    lines: [
      `${name} of your Tollgate account was switched off: its server has answered that it is gone, or has failed for days. Alerts are not sent there any more.`,
      `What came of each attempt is at GET ${path}/deliveries. When its server works, switch it on again by PATCH ${path} with {"enabled":true}. Both are described here, to be tried once you are signed in:`,
    ],
    link,
  });
}

function render(to: string, { subject, lines, link, closing }: Wording): Mail {
  const parts = [
    ...lines,
    ...(link === undefined ? [] : [link]),
    ...(closing === undefined ? [] : [closing]),
  ];
  const paragraphs = parts.map((part) =>
    part === link ? `<p><a href="${escape(part)}">${escape(part)}</a></p>` : `<p>${escape(part)}</p>`,
  );
  return {
    to,
    subject,
    text: `${parts.join('\n\n')}\n`,
    html: `<!doctype html>\n<html lang="en"><body>\n${paragraphs.join('\n')}\n</body></html>\n`,
  };
}

function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
