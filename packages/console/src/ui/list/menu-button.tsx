import { Button } from '../button.tsx';

export function MenuButton({ name, isDisabled = false }: { name: string; isDisabled?: boolean }) {
  return (
    <Button variant="quiet" aria-label={`Actions for ${name}`} isDisabled={isDisabled}>
      <span aria-hidden="true">•••</span>
    </Button>
  );
}
