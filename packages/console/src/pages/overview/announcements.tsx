import { useEffect, useRef, useState } from 'react';
import { LIMIT_NAMES } from './limit-names.ts';
import type { Pace } from './queries.ts';
import { statusText } from './status.ts';
import styles from './overview.module.css';

/** Tells screen readers what has changed that matters: the status and crossed thresholds, never each figure. */
export function Announcements({ pace }: { pace: Pace | null | undefined }) {
  const former = useRef(pace);
  const [text, setText] = useState('');
  useEffect(() => {
    const before = former.current;
    former.current = pace;
    if (!before || !pace) return;
    const news = newsOf(before, pace);
    if (news !== '') setText(news);
  }, [pace]);
  return (
    <p role="status" className={styles['spoken']}>
      {text}
    </p>
  );
}

function newsOf(before: Pace, now: Pace): string {
  const status = statusText(now);
  if (status.label !== statusText(before).label) return `${status.label}. ${status.advice}`;
  const [latest] = now.crossed_thresholds;
  if (latest === undefined || now.crossed_thresholds.length === before.crossed_thresholds.length) return '';
  return `${LIMIT_NAMES[latest.limit]}: ${String(latest.share_percent)}% of the limit is used.`;
}
