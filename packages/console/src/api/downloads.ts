import { ApiError, api, resultOf } from './client.ts';

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
  const outcome = api.POST('/api/console/account/export', { parseAs: 'stream' });
  await resultOf(outcome);
  const { response } = await outcome;
  try {
    return { name: fileNameOf(response) ?? 'account.zip', content: await response.blob() };
  } catch {
    throw new InterruptedDownload(response);
  }
}

/** The name that the API gives to a file. */
export function fileNameOf({ headers }: Response): string | undefined {
  return /filename="?([^";]+)/.exec(headers.get('content-disposition') ?? '')?.[1];
}
