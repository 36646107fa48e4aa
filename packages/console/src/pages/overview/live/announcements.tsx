import { useEffect, useRef, useState } from 'react';
import { newsOf } from './news.ts';
import type { Pace } from '../queries.ts';
import page from '../../../ui/page/page.module.css';

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
    <p role="status" className={page['spoken']}>
      {text}
    </p>
  );
}
