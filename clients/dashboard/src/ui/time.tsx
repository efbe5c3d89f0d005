const SHORT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const LONG = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });

/** A moment in the zone of the reader; the zone itself on hover. */
export function Time({ at }: { at: number }) {
  return (
    <time dateTime={new Date(at).toISOString()} title={LONG.format(at)}>
      {SHORT.format(at)}
    </time>
  );
}
