import { eventually } from './caller.ts';
import type { Stack } from './stack/stack.ts';

const TIME_LIMIT_MS = 60_000;

/** The link in a mail to an address that leads to a page, at the address where this machine reaches the stack. */
export async function mailedLink(
  { stack }: { stack: () => Pick<Stack, 'demo' | 'mails'> },
  email: string,
  page: string,
): Promise<string> {
  const link = new RegExp(`https?://[^\\s"<]+(/user/${page}\\?(?:for=[a-z-]+&)?token=[\\w-]{43})`);
  const found = await eventually(
    async () => {
      const mails = (await stack().mails()).map((raw) => raw.replace(/=\r?\n/g, '').replaceAll('=3D', '='));
      return mails.filter((mail) => mail.includes(email)).map((mail) => link.exec(mail)?.[1]);
    },
    (paths) => paths.some((path) => path !== undefined),
    TIME_LIMIT_MS,
  );
  return new URL(found.find((path) => path !== undefined) ?? '', stack().demo.console.url).href;
}
