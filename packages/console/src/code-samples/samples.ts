import { curlSample } from './languages/curl.ts';
import { goSample } from './languages/go.ts';
import { javaSample } from './languages/java.ts';
import { javascriptSample } from './languages/javascript.ts';
import { pythonSample } from './languages/python.ts';
import type { SampleInput } from './languages/operation.ts';

type Language = {
  id: string;
  label: string;
  /** How to run a sample, and what a subscription goes over. */
  note: string;
  subscriptionNote: string;
  sample: (input: SampleInput) => string;
};

const EVENT_STREAM = 'The subscription uses server-sent events, which the data API must support.';
const SOCKET = 'The subscription uses a WebSocket.';

export const LANGUAGES: readonly Language[] = [
  {
    id: 'curl',
    label: 'curl',
    note: 'For a POSIX shell.',
    subscriptionNote: EVENT_STREAM,
    sample: curlSample,
  },
  {
    id: 'javascript',
    label: 'JavaScript',
    note: 'Save it as sample.mjs and run node sample.mjs (Node.js 22 or newer).',
    subscriptionNote: SOCKET,
    sample: javascriptSample,
  },
  {
    id: 'python',
    label: 'Python',
    note: 'Save it as sample.py and run python3 sample.py.',
    subscriptionNote: EVENT_STREAM,
    sample: pythonSample,
  },
  {
    id: 'go',
    label: 'Go',
    note: 'Save it as sample.go and run go run sample.go.',
    subscriptionNote: EVENT_STREAM,
    sample: goSample,
  },
  {
    id: 'java',
    label: 'Java',
    note: 'Save it as Sample.java and run java Sample.java (Java 17 or newer).',
    subscriptionNote: SOCKET,
    sample: javaSample,
  },
];
