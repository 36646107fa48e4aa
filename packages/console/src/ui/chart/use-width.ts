import { useLayoutEffect, useState } from 'react';
import type { RefObject } from 'react';

/** The width of an element in px, as it changes; 0 before it is known. */
export function useWidth(element: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const observed = element.current;
    if (observed === null) return undefined;
    const measure = () => {
      setWidth(Math.floor(observed.getBoundingClientRect().width));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(observed);
    return () => {
      observer.disconnect();
    };
  }, [element]);
  return width;
}
