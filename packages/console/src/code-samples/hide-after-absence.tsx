import { useEffect } from 'react';
import { useHiddenAfterAbsence } from '../ui/secret/use-hidden-after-absence.ts';

/** Rendered while a secret is shown: calls `onHide` once the tab has been hidden for a minute. */
export function HideAfterAbsence({ onHide }: { onHide: () => void }) {
  const isHidden = useHiddenAfterAbsence();
  useEffect(() => {
    if (isHidden) onHide();
  });
  return null;
}
