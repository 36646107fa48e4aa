/** A segment `.` or `..`, also where the dots, or the slashes around them, are escaped or have a parameter. */
const DOT_SEGMENT = /(?:^|[/\\]|%2f|%5c)(?:\.|%2e){1,2}(?:$|[/\\;]|%2f|%5c)/i;

/** Whether a proxy may take the path for another one than we do. Browsers send no such path. */
export function isAmbiguousPath(path: string): boolean {
  return DOT_SEGMENT.test(path);
}
