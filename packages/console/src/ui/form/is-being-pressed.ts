/** Whether the focus goes to a button that the pointer is pressing, which must not move away from it. */
export function isBeingPressed(target: EventTarget | null): boolean {
  return target instanceof HTMLButtonElement && target.matches(':active');
}
