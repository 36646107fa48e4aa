import { useEffect, useState } from 'react';

const ABSENCE_MS = 60_000;

/** Whether secrets must be covered: the tab was hidden for a minute since they were shown. */
export function useHiddenAfterAbsence(): boolean {
  const [isHidden, setHidden] = useState(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    function follow() {
      clearTimeout(timer);
      if (document.hidden) {
        timer = setTimeout(() => {
          setHidden(true);
        }, ABSENCE_MS);
      }
    }
    document.addEventListener('visibilitychange', follow);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', follow);
    };
  }, []);
  return isHidden;
}
