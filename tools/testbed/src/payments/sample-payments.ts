import { join } from 'node:path';
import { freePort } from '@tollgate/stack/ports';
import { startService } from '@tollgate/stack/service';
import { compileCache, runDirectory } from '../config.ts';
import { programFile } from '../programs.ts';
import { newDirectory, register } from '../run.ts';

export const SAMPLE_SECRET_KEY = 'sk_test_123456789012345678901234';
export const SAMPLE_WEBHOOK_SECRET = 'whsec_c2FtcGxlLXdlYmhvb2stc2VjcmV0';

export type SamplePayments = {
  url: string;
  /** What customers, banks and time do (sample-payments/src/resources/sample.ts), or a call of the API. */
  post: (path: string, form?: Record<string, string>) => Promise<Record<string, unknown>>;
  /** Events that were sent and are not acknowledged yet. */
  pendingEvents: () => Promise<number>;
  stop: () => Promise<void>;
};

/** `webhookUrl`: where its events go. */
export async function startSamplePayments({
  webhookUrl,
}: { webhookUrl?: string } = {}): Promise<SamplePayments> {
  const port = String(await freePort());
  const url = `http://127.0.0.1:${port}`;
  const service = await startService({
    name: 'payments',
    entry: programFile('sample-payments', 'main'),
    env: {
      ...compileCache(),
      PORT: port,
      SECRET_KEY: SAMPLE_SECRET_KEY,
      ...(webhookUrl !== undefined && { WEBHOOK_URL: webhookUrl, WEBHOOK_SECRET: SAMPLE_WEBHOOK_SECRET }),
    },
    logFile: join(newDirectory(runDirectory(), 'payments'), 'log'),
    readyUrl: `${url}/health`,
    onSpawn: register(runDirectory()),
  });
  const ask = async (path: string, init: RequestInit) => {
    const headers = { authorization: `Bearer ${SAMPLE_SECRET_KEY}` };
    const response = await fetch(url + path, { ...init, headers });
    const body = (await response.json()) as Record<string, unknown>;
    if (!response.ok) throw new Error(`${path}: ${JSON.stringify(body)}`);
    return body;
  };
  return {
    url,
    post: (path, form = {}) => ask(path, { method: 'POST', body: new URLSearchParams(form) }),
    pendingEvents: async () => Number((await ask('/sample/deliveries', { method: 'GET' }))['pending']),
    stop: async () => {
      await service.stop();
    },
  };
}
