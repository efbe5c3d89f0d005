import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Failure } from '../ui/failure.js';
import { isId, placeOf } from './places.js';

/** Opens what an id names, where it has a page. */
export function ThingLink({ id, words = id, onLeave }: { id: string; words?: string; onLeave?: () => void }) {
  const navigate = useNavigate();
  const go = useMutation({
    mutationFn: async () => {
      const href = await placeOf(id);
      onLeave?.();
      await navigate({ href });
    },
  });
  if (!isId(id)) return words === id ? <code>{id}</code> : words;
  return (
    <>
      <button type="button" className="source" disabled={go.isPending} onClick={() => go.mutate()}>
        Open {words === id ? <code>{id}</code> : words}
      </button>
      {go.error && <Failure error={go.error} />}
    </>
  );
}
