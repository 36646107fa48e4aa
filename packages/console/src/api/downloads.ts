import { ApiError, api, resultOf } from './client.ts';
import type { Outcome } from './client.ts';

export type Download = { name: string; content: Blob };

/** The response began, and its connection broke. */
export class InterruptedDownload extends ApiError {
  readonly requestId: string | null;

  constructor({ headers }: Response) {
    super(null);
    this.name = 'InterruptedDownload';
    this.message = 'The download was interrupted, and nothing was saved.';
    this.requestId = headers.get('x-request-id');
  }
}

/** A zip of the account's data. @throws {ApiError} InterruptedDownload if only a part of it arrived */
export async function fetchExport(): Promise<Download> {
  return downloadOf(api.POST('/api/console/account/export', { parseAs: 'stream' }), 'account.zip');
}

/**
 * A file that an operation answers with, under the name that the API gives it. The request parses its answer as a stream.
 * @throws {ApiError} InterruptedDownload if only a part of it arrived
 */
export async function downloadOf(outcome: Promise<Outcome<unknown>>, otherwise: string): Promise<Download> {
  await resultOf(outcome);
  const { response } = await outcome;
  try {
    return { name: fileNameOf(response) ?? otherwise, content: await response.blob() };
  } catch {
    throw new InterruptedDownload(response);
  }
}

/** The name that the API gives to a file. */
export function fileNameOf({ headers }: Response): string | undefined {
  return /filename="?([^";]+)/.exec(headers.get('content-disposition') ?? '')?.[1];
}
