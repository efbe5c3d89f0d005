const WITH_YEAR = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const THIS_YEAR = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
});
const LONG = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });

/** A moment in the zone of the reader; the zone itself on hover. */
export function Time({ at }: { at: number }) {
  const isThisYear = new Date(at).getFullYear() === new Date().getFullYear();
  return (
    <time dateTime={new Date(at).toISOString()} title={LONG.format(at)}>
      {(isThisYear ? THIS_YEAR : WITH_YEAR).format(at)}
    </time>
  );
}
