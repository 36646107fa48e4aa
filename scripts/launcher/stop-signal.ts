/**
 * Also resolves when the terminal closes or the npm command that started this dies. Later signals are
 * ignored.
 */
export function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        resolve(signal);
      });
    }
    process.once('disconnect', () => {
      resolve('SIGHUP');
    });
    // A closed terminal must not end this before its processes are.
    for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  });
}
