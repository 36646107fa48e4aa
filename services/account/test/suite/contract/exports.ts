import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { buffer, text } from 'node:stream/consumers';
import { fromBufferPromise } from 'yauzl';
import { assertDocumented } from './contract.ts';
import type { Browser } from '../people.ts';

const PATH = '/api/console/account/export';

/** Resolves with the response's head, before its body is read. */
export function requestExport(
  { publicUrl }: { publicUrl: string },
  { cookie = '', csrfToken = '' }: Pick<Browser, 'cookie' | 'csrfToken'>,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { cookie, 'x-csrf-token': csrfToken };
    request(`${publicUrl}${PATH}`, { method: 'POST', headers }, resolve).once('error', reject).end();
  });
}

/** The files by name, read by a library that didn't write them. */
export async function unzipped(zip: Buffer): Promise<Map<string, string>> {
  const opened = await fromBufferPromise(zip);
  const files = new Map<string, string>();
  for await (const entry of opened.eachEntry()) {
    files.set(entry.fileName, await text(await opened.openReadStreamPromise(entry)));
  }
  return files;
}

export async function exported(account: { publicUrl: string }, browser: Browser) {
  const response = await requestExport(account, browser);
  const status = response.statusCode ?? 0;
  const body = await buffer(response);
  const headers = new Headers(response.headers as Record<string, string>);
  assertDocumented('POST', PATH, { status, headers, text: status === 200 ? '' : body.toString() });
  if (status !== 200) throw new Error(`no export: ${body.toString()}`);
  const files = await unzipped(body);
  return {
    headers,
    files,
    json: (name: string) => JSON.parse(files.get(`${name}.json`) ?? 'null') as unknown,
    rows: (name: string) => JSON.parse(files.get(`${name}.json`) ?? 'null') as Record<string, unknown>[],
  };
}
