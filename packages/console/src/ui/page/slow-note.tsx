import { useEffect, useState } from 'react';

const SLOW_MS = 5_000;

/** Says that something is still under way when it takes long. */
export function SlowNote() {
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => {
      setSlow(true);
    }, SLOW_MS);
    return () => {
      clearTimeout(timer);
    };
  }, []);
  return isSlow ? <span>This takes longer than usual.</span> : null;
}
