import { useEffect, useEffectEvent, useState } from 'react';

const ABSENCE_MS = 60_000;

/** Calls back once the tab was hidden for a minute. */
function useAfterAbsence(onAbsence: () => void): void {
  const onAbsent = useEffectEvent(onAbsence);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let hiddenAtMs: number | undefined;
    function follow() {
      clearTimeout(timer);
      if (document.hidden) {
        hiddenAtMs = Date.now();
        timer = setTimeout(onAbsent, ABSENCE_MS);
        return;
      }
      // A browser may stop the timers of a hidden tab.
      if (hiddenAtMs !== undefined && Date.now() - hiddenAtMs >= ABSENCE_MS) onAbsent();
      hiddenAtMs = undefined;
    }
    document.addEventListener('visibilitychange', follow);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', follow);
    };
  }, []);
}

/** Whether secrets must be covered: the tab was hidden for a minute since they were shown. */
export function useHiddenAfterAbsence(): boolean {
  const [isHidden, setHidden] = useState(false);
  useAfterAbsence(() => {
    setHidden(true);
  });
  return isHidden;
}

/** Whether a secret is on the screen: when it was asked for, and until the tab was hidden for a minute. */
export function useRevealed(): [isRevealed: boolean, setRevealed: (isRevealed: boolean) => void] {
  const [isRevealed, setRevealed] = useState(false);
  useAfterAbsence(() => {
    setRevealed(false);
  });
  return [isRevealed, setRevealed];
}
