/** Longer ones would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Rejects with the signal's reason. */
export async function delay(ms: number, signal?: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const passed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.min(ms, MAX_TIMER_MS));
  });
  await abortable(passed, signal).finally(() => {
    clearTimeout(timer);
  });
}

/** Stops waiting when the signal is aborted; what is waited for goes on. */
export function abortable<T>(work: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const stop = () => {
      reject(signal.reason as Error);
    };
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop);
    const unlisten = () => {
      signal.removeEventListener('abort', stop);
    };
    work.then(resolve, reject).then(unlisten, unlisten);
  });
}
